# presets/**/*.yaml -> embedded.c, read through src/scenario/embedded.h.

file(GLOB_RECURSE WEIR_PRESETS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/presets/*.yaml)
set(WEIR_EMBEDDED ${PROJECT_BINARY_DIR}/embedded.c)
add_custom_command(OUTPUT ${WEIR_EMBEDDED}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/presets -DOUT=${WEIR_EMBEDDED}
            -P ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${WEIR_PRESETS} ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake
    COMMENT "Embedding presets" VERBATIM)
