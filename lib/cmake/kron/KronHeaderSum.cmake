# KronHeaderSum.cmake - what ccache knows a precompiled header by.
#
# usage: cmake -DCOMPILER=... -DFLAGS=... -DHEADER=... -DOUTPUT=... -P KronHeaderSum.cmake
#
# Writes a hash of the compiler's version and of every file that HEADER includes. The
# compiler's flags are those of the files that use the header, which ccache looks at.
execute_process(COMMAND ${COMPILER} --version
  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${COMPILER} ${FLAGS} -M -x c++ ${HEADER}
  OUTPUT_VARIABLE rule COMMAND_ERROR_IS_FATAL ANY)
# "cmake_pch.o: FILE FILE \\\n FILE ...".
string(REGEX REPLACE "^[^:]*:" "" rule "${rule}")
string(REGEX MATCHALL "[^ \\\n]+" files "${rule}")
set(sums "${version}")
foreach(file IN LISTS files)
  file(SHA256 ${file} sum)
  string(APPEND sums "${sum}\n")
endforeach()
string(SHA256 sum "${sums}")
file(WRITE ${OUTPUT} "${sum}\n")
