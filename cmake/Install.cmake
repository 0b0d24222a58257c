# make install: command, static library, headers, pkg-config, CMake package, man page, completions.

include(CMakePackageConfigHelpers)

# The man page and the completions are printed by the command from its own option tables.
function(weir_document file)
    set(out ${PROJECT_BINARY_DIR}/documents/${file})
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/documents
        COMMAND weir_cli help ${ARGN} > ${out}
        DEPENDS weir_cli VERBATIM)
    set_property(GLOBAL APPEND PROPERTY WEIR_DOCUMENTS ${out})
endfunction()
weir_document(weir.1 --man)
weir_document(weir.bash --completion bash)
weir_document(_weir --completion zsh)
get_property(documents GLOBAL PROPERTY WEIR_DOCUMENTS)
add_custom_target(documents ALL DEPENDS ${documents})

# The way from weir.pc up to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH WEIR_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/weir.pc.in weir.pc @ONLY)
configure_package_config_file(cmake/WeirConfig.cmake.in WeirConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
write_basic_package_version_file(WeirConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS weir_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS weir_library EXPORT WeirTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT WeirTargets NAMESPACE Weir:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
install(FILES ${PROJECT_BINARY_DIR}/WeirConfig.cmake ${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Weir)
install(FILES ${PROJECT_BINARY_DIR}/weir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/documents/weir.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/documents/weir.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weir)
install(FILES ${PROJECT_BINARY_DIR}/documents/_weir
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
