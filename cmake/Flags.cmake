# What every target of ours is compiled with (HOUSE_STYLE 9).

set(WEIR_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wundef -Werror)
set(WEIR_CONVERSION_WARNINGS -Wconversion -Wsign-conversion -Wcast-qual)

set(WEIR_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)

if(WEIR_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "WEIR_FUZZ needs clang (use the preset 'fuzz'), "
        "found ${CMAKE_C_COMPILER_ID}")
endif()

# Flags that are the same for the library, the command and the tests.
function(weir_common_flags target)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    # -ffp-contract=off: no fused multiply-add, so that every compiler and machine gives the same
    # bytes (DESIGN 7.2).
    target_compile_options(${target} PRIVATE ${WEIR_WARNINGS} -fvisibility=hidden
        -ffp-contract=off)
    if(WEIR_SANITIZE OR WEIR_FUZZ)
        target_compile_options(${target} PRIVATE ${WEIR_SANITIZERS})
        target_link_options(${target} PRIVATE ${WEIR_SANITIZERS})
    endif()
    if(WEIR_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    if(WEIR_COVERAGE)
        target_compile_options(${target} PRIVATE --coverage)
        target_link_options(${target} PRIVATE --coverage)
    endif()
endfunction()

function(weir_house_flags target)
    weir_common_flags(${target})
    target_compile_options(${target} PRIVATE ${WEIR_CONVERSION_WARNINGS}
        -include ${PROJECT_SOURCE_DIR}/src/base/banned.h)
endfunction()

# Test macros of cmocka cast freely and hand every test a state: those warnings say nothing there.
function(weir_test_flags target)
    weir_common_flags(${target})
    target_compile_options(${target} PRIVATE -Wno-unused-parameter -UNDEBUG)
endfunction()
