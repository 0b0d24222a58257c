# Everything that ctest runs: unit, fuzz corpus replay, golden, data, house.

find_package(Python3 COMPONENTS Interpreter)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT Python3_FOUND OR NOT CMOCKA_FOUND)
    message(WARNING "the tests are left out: they need python3 and cmocka (scripts/bootstrap test)")
    return()
endif()

# --- tests/unit/*_test.c: one cmocka executable each ---
file(GLOB unit_tests CONFIGURE_DEPENDS tests/unit/*_test.c)
foreach(source IN LISTS unit_tests)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE src)
    target_link_libraries(${name} PRIVATE weir_cli_parts weir_library PkgConfig::CMOCKA)
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    weir_test_flags(${name})
    add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endforeach()

# The library's allocations come to these tests, which let them fail.
foreach(name allocation_test fabric_allocation_test train_allocation_test)
    target_link_options(${name} PRIVATE
        -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()

# --- tests/fuzz/*_fuzz.c: fuzzers under the preset fuzz, elsewhere the corpus is replayed ---
file(GLOB fuzz_targets CONFIGURE_DEPENDS tests/fuzz/*_fuzz.c)
foreach(source IN LISTS fuzz_targets)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" short ${name})
    if(WEIR_FUZZ)
        add_executable(${name} ${source})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        add_executable(${name} ${source} tests/fuzz/replay.c)
    endif()
    target_include_directories(${name} PRIVATE src)
    target_link_libraries(${name} PRIVATE weir_library)
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    weir_test_flags(${name})
    if(NOT WEIR_FUZZ)
        add_test(NAME fuzz.${short}
            COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${short})
        set_tests_properties(fuzz.${short} PROPERTIES LABELS fuzz TIMEOUT 300)
    endif()
endforeach()

# --- tests/golden/<case>/: what the command prints, byte for byte ---
file(GLOB golden_commands CONFIGURE_DEPENDS tests/golden/*/cmd)
foreach(command IN LISTS golden_commands)
    get_filename_component(folder ${command} DIRECTORY)
    get_filename_component(name ${folder} NAME)
    add_test(NAME golden.${name}
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/golden/run
                --weir $<TARGET_FILE:weir_cli> ${name})
    set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 300)
endforeach()

# --- tests/data/*_test.py: against real traces; 77 = skipped, with the reason on the output ---
file(GLOB data_tests CONFIGURE_DEPENDS tests/data/*_test.py)
foreach(source IN LISTS data_tests)
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME data.${name}
        COMMAND ${PROJECT_SOURCE_DIR}/scripts/with-data ${Python3_EXECUTABLE} ${source}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(data.${name} PROPERTIES LABELS data TIMEOUT 1500 SKIP_RETURN_CODE 77
        ENVIRONMENT "WEIR_BIN=$<TARGET_FILE:weir_cli>;WEIR_SOURCE=${PROJECT_SOURCE_DIR}")
endforeach()

# Needs a library without sanitizers: .ci/run picks it out for the release build.
set_tests_properties(data.fluid_simgrid_test PROPERTIES LABELS "data;simgrid")

# --- the house itself ---
add_test(NAME house.layers COMMAND ${PROJECT_SOURCE_DIR}/tools/check-layers)
add_test(NAME house.layers_are_checked COMMAND ${PROJECT_SOURCE_DIR}/scripts/test-layers)
add_test(NAME house.docs
    COMMAND ${PROJECT_SOURCE_DIR}/tools/check-docs $<TARGET_FILE:weir_cli>)
set_tests_properties(house.layers house.layers_are_checked house.docs PROPERTIES
    LABELS house TIMEOUT 600)
if(NOT WEIR_FUZZ AND NOT WEIR_COVERAGE)
    add_test(NAME house.install
        COMMAND ${PROJECT_SOURCE_DIR}/scripts/test-install ${PROJECT_BINARY_DIR})
    set_tests_properties(house.install PROPERTIES LABELS house TIMEOUT 300
        ENVIRONMENT "CC=${CMAKE_C_COMPILER};CMAKE=${CMAKE_COMMAND}")
endif()
