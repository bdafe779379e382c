# KronAddKernels.cmake - compile kernels ahead of time in a CMake build.
#
# Comes with find_package(kron), and is there when kron is part of a build itself
# (add_subdirectory).

# kron_add_kernels(<target> SOURCES <a.mlir>... [MCPU <cpu>...]
#                  [TARGETS cpu nvidia] [GPU_ARCH <sm_NN>...] [RECORD <rec.jsonl>...]
#                  [ROW_MAJOR])
#
# Adds the public functions of the MLIR files to <target>: kronc compiles each file
# to an object, which becomes part of the target, and to a header `a.h` with the C
# and C++ declarations, for `#include "a.h"` in the target and in what links it. The
# target links kron::runtime, as its users do.
#
# MCPU names the processors to compile for, as kronc --mcpu does. Without it, an
# object holds one version for each of x86-64-v2, v3 and v4, and the runtime picks
# the best one that the processor runs.
#
# TARGETS says what to compile for, the CPU by default. For nvidia, GPU_ARCH names
# the GPUs (sm_90a, h200, ...), sm_80 and sm_90a by default; the object holds PTX, and cubins if
# ptxas of a CUDA toolkit is found. Nothing of CUDA is needed to build or link.
#
# RECORD names files of tuning records (kron-tune), whose plans the versions get that
# are for the processors and GPUs that they were made on. "<kron>" stands for kron's own.
#
# ROW_MAJOR compiles functions of sparse factors for row-major arrays alone, in half of
# the time; launches refuse others.
#
# Call it in the folder that adds the target.
function(kron_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "ROW_MAJOR" "" "SOURCES;MCPU;TARGETS;GPU_ARCH;RECORD")
  _kron_check_add_kernels_arguments()

  if(TARGET kron::kronc)
    set(kronc kron::kronc)
  elseif(TARGET kronc)
    set(kronc kronc)
  else()
    message(FATAL_ERROR "kron_add_kernels(${target}): expects kron with its compiler, but got the runtime alone")
  endif()

  set(options)
  if(ARG_ROW_MAJOR)
    list(APPEND options --row-major)
  endif()
  if(ARG_MCPU)
    list(JOIN ARG_MCPU "," cpus)
    list(APPEND options --mcpu=${cpus})
  endif()
  foreach(pair IN ITEMS "TARGETS target" "GPU_ARCH gpu-arch")
    separate_arguments(pair)
    list(GET pair 0 argument)
    list(GET pair 1 option)
    if(ARG_${argument})
      list(JOIN ARG_${argument} "," values)
      list(APPEND options --${option}=${values})
    endif()
  endforeach()

  set(records)
  foreach(record IN LISTS ARG_RECORD)
    if(NOT record STREQUAL "<kron>")
      get_filename_component(record ${record} ABSOLUTE)
      list(APPEND records ${record})
    endif()
    list(APPEND options --record=${record})
  endforeach()

  # A folder per target, so that two targets can compile the same file differently.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/kron_kernels/${target})
  file(MAKE_DIRECTORY ${folder})
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WLE)
    set(outputs ${folder}/${name}.o ${folder}/${name}.h)
    get_target_property(present ${target} SOURCES)
    if("${folder}/${name}.o" IN_LIST present)
      message(FATAL_ERROR "kron_add_kernels(${target}): expects file names to differ, but got ${name}.mlir twice")
    endif()
    # The generator expression makes the build depend on kronc's file as well.
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND ${kronc} ${source} ${options} -o ${folder}/${name}.o
        --header ${folder}/${name}.h
      DEPENDS ${source} ${records} $<TARGET_FILE:${kronc}>
      COMMENT "Compiling kernels of ${name}.mlir"
      VERBATIM)
    set_source_files_properties(${folder}/${name}.o PROPERTIES
      EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(${target} PRIVATE ${outputs})
  endforeach()

  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  # As properties, since target_link_libraries with a keyword is an error on a target
  # whose other libraries were given without.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES kron::runtime)
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES kron::runtime)
endfunction()

# The checks of kron_add_kernels; reads its variables.
macro(_kron_check_add_kernels_arguments)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "kron_add_kernels: expects a target, but got ${target}")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kron_add_kernels(${target}): expects SOURCES, MCPU, TARGETS, GPU_ARCH, RECORD and ROW_MAJOR, but got ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "kron_add_kernels(${target}): expects SOURCES with at least one .mlir file, but got none")
  endif()
  set(files ${ARG_SOURCES} ${ARG_RECORD})
  list(REMOVE_ITEM files "<kron>")
  foreach(file IN LISTS files)
    get_filename_component(path ${file} ABSOLUTE)
    get_source_file_property(generated ${path} GENERATED)
    if(NOT generated AND NOT EXISTS ${path})
      message(FATAL_ERROR "kron_add_kernels(${target}): expects ${file} to exist, but it does not")
    endif()
  endforeach()
endmacro()
