# KronMPI.cmake - the target kron::mpi, for programs that include kron/Distributed/MPI.hpp.
#
# Brings the headers and the MPI that is found. Header-only, so that nothing of kron is
# tied to one MPI.

if(NOT TARGET kron::mpi)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    add_library(kron::mpi INTERFACE IMPORTED)
    set_property(TARGET kron::mpi PROPERTY
      INTERFACE_LINK_LIBRARIES kron::runtime MPI::MPI_CXX)
  endif()
endif()
