# KronInstall.cmake - install rules and the CMake package.
#
# Two components that can be installed apart: `runtime` (the library, its headers, the
# package) and `compiler` (the tools).

include(CMakePackageConfigHelpers)
set(KRON_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kron)

install(TARGETS kron_runtime EXPORT kronRuntimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
# In a set of its own: its users need oneTBB's package, those of the shared library
# do not.
install(TARGETS kron_runtime_static EXPORT kronRuntimeStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kron/Runtime
    ${PROJECT_SOURCE_DIR}/include/kron/Distributed
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kron COMPONENT runtime
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${PROJECT_SOURCE_DIR}/include/kron/Distributed.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kron COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

set(sets RuntimeTargets RuntimeStaticTargets)
if(TARGET kronc)
  list(APPEND sets CompilerTargets)
endif()
foreach(set IN LISTS sets)
  set(component runtime)
  if(set STREQUAL CompilerTargets)
    set(component compiler)
  endif()
  install(EXPORT kron${set} NAMESPACE kron:: DESTINATION ${KRON_PACKAGE_DIR}
    COMPONENT ${component})
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/lib/cmake/kron/kronConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/kronConfig.cmake
  INSTALL_DESTINATION ${KRON_PACKAGE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/kronConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/kronConfig.cmake
  ${PROJECT_BINARY_DIR}/package/kronConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/lib/cmake/kron/KronAddKernels.cmake
  ${PROJECT_SOURCE_DIR}/lib/cmake/kron/KronMPI.cmake
  DESTINATION ${KRON_PACKAGE_DIR} COMPONENT runtime)
