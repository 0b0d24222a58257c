# Run with -P: writes OUT, a C file with the bytes of every FOLDER/**/*.yaml, sorted by path.

file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*.yaml)
list(SORT files COMPARE STRING)

set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
    file(READ ${FOLDER}/${file} hex HEX)
    file(SIZE ${FOLDER}/${file} size)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
           "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${count}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${file}\", (const char *)file_${count}, ${size}u},\n")
    math(EXPR count "${count} + 1")
endforeach()

set(text "/* Written by cmake/write_embedded.cmake: do not edit. */\n")
string(APPEND text "#include \"scenario/embedded.h\"\n\n#include <stddef.h>\n\n${arrays}\n")
if(count GREATER 0)
    string(APPEND text "static const weir_embedded_file FILES[] = {\n${rows}};\n\n")
    set(table FILES)
else()
    set(table NULL)
endif()
string(APPEND text "const weir_embedded_file *weir_embedded_files(uint32_t *count)\n{\n"
    "    *count = ${count};\n    return ${table};\n}\n")
file(WRITE ${OUT} "${text}")
