# KronBuild.cmake - how kron builds its own libraries and tools.

add_library(kron_options INTERFACE)
target_compile_options(kron_options INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(KRON_WERROR)
  target_compile_options(kron_options INTERFACE -Werror)
endif()
if(KRON_SANITIZE)
  target_compile_options(kron_options INTERFACE -fsanitize=${KRON_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(kron_options INTERFACE -fsanitize=${KRON_SANITIZE})
  if(KRON_SANITIZE MATCHES undefined)
    # The CUDA driver's functions come from dlsym, with types of our own for its handles.
    # What is found ends the process, so that a test fails.
    target_compile_options(kron_options INTERFACE -fno-sanitize=function
      -fno-sanitize-recover=undefined)
  endif()
  if(KRON_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # oneTBB's library is not instrumented, so its headers must not be either.
    target_compile_options(kron_options INTERFACE
      -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/lib/cmake/kron/tsan-ignorelist.txt)
  endif()
endif()
if(KRON_FUZZ)
  # What guides libFuzzer, and what tells it more than a crash would.
  target_compile_options(kron_options INTERFACE -fsanitize=fuzzer-no-link -UNDEBUG)
endif()

# kron_add_library(NAME SOURCES... [DEPENDS targets...] [LINK libraries...])
#
# A static library of the compiler. It does not say which LLVM it is linked with:
# programs do, with `MLIR LLVM` (shared) or `kron_llvm_static`. All of them share one
# precompiled header (kron_use_pch).
function(kron_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE kron_options)
  kron_use_pch(${name})
endfunction()

# LLVM and MLIR from their static archives, for programs that run where LLVM is not
# installed. What a program does not use is left out.
add_library(kron_llvm_static INTERFACE)
if(KRON_BUILD_COMPILER)
  file(GLOB KRON_LLVM_ARCHIVES
    ${KRON_LLVM_PREFIX}/lib/libMLIR*.a ${KRON_LLVM_PREFIX}/lib/libLLVM*.a)
  list(FILTER KRON_LLVM_ARCHIVES EXCLUDE REGEX "libMLIR.*(Test|LspServer|CAPI)")
  target_link_libraries(kron_llvm_static INTERFACE
    -Wl,--start-group ${KRON_LLVM_ARCHIVES} -Wl,--end-group
    -l:libz.a -l:libzstd.so.1 pthread dl m)
  target_link_options(kron_llvm_static INTERFACE
    -Wl,--gc-sections -Wl,--as-needed -Wl,--exclude-libs,ALL -static-libstdc++
    -static-libgcc)
endif()

# kron_add_tool(NAME SOURCES... [SLIM] [LINK libraries...])
#
# With SLIM, it is part of kron-slim as well.
function(kron_add_tool name)
  cmake_parse_arguments(ARG "SLIM" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM kron_options)
  kron_use_pch(${name})
  # Also where LLVM's libraries lie, which need not be where the system looks.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${name} EXPORT kronCompilerTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  if(ARG_SLIM)
    string(MAKE_C_IDENTIFIER ${name}_main main)
    add_library(${name}-slim OBJECT EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
    target_compile_definitions(${name}-slim PRIVATE main=${main})
    target_link_libraries(${name}-slim PRIVATE ${ARG_LINK} kron_options)
    set_property(GLOBAL APPEND PROPERTY KRON_SLIM_TOOLS ${name})
  endif()
endfunction()

# kron_add_pch(NAME HEADERS...)
#
# A precompiled header, which kron_use_pch gives to targets, and a text that ccache knows
# it by: the file itself has the paths of this build folder, and reading its 200 MB takes
# as long as compiling some sources.
function(kron_add_pch name)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE kron_options)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  set(folders "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  add_custom_command(OUTPUT ${header}.pch.sum
    COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER}
      "-DFLAGS=${flags};-std=c++${CMAKE_CXX_STANDARD};-I$<JOIN:${folders},;-I>"
      -DHEADER=${header} -DOUTPUT=${header}.pch.sum
      -P ${PROJECT_SOURCE_DIR}/lib/cmake/kron/KronHeaderSum.cmake
    DEPENDS ${header}.pch
    VERBATIM)
  add_custom_target(${name}_sum DEPENDS ${header}.pch.sum)
endfunction()

# kron_use_pch(TARGET [PCH])
#
# Gives a target a precompiled header; by default that of the compiler's libraries: the
# dialects that they use. What a file includes beyond it is parsed again for each file (the
# LLVM, NVVM and GPU dialects take 8 seconds); what it does not use of it costs nothing.
function(kron_use_pch name)
  set(pch ${ARGN})
  if(NOT pch)
    set(pch kron_pch)
  endif()
  if(pch STREQUAL kron_pch AND NOT TARGET kron_pch)
    kron_add_pch(kron_pch
      <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Bufferization/IR/Bufferization.h>
      <mlir/Dialect/Complex/IR/Complex.h> <mlir/Dialect/Func/IR/FuncOps.h>
      <mlir/Dialect/GPU/IR/GPUDialect.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
      <mlir/Dialect/LLVMIR/NVVMDialect.h> <mlir/Dialect/Linalg/IR/Linalg.h>
      <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/MemRef/IR/MemRef.h>
      <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h>
      <mlir/Dialect/Vector/IR/VectorOps.h> <mlir/IR/Builders.h> <mlir/IR/Remarks.h>
      <mlir/Pass/PassManager.h> <mlir/Transforms/GreedyPatternRewriteDriver.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${pch})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
    add_dependencies(${name} ${pch}_sum)
  endif()
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE)
    # As the header was compiled, not -fPIE.
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()
