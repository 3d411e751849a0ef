// core/io/hdf5/h5_file.cpp as it is compiled where HDF5 came without MPI.
#include "core/io/hdf5/h5_internal.hpp"

#undef H5_HAVE_PARALLEL
#include "core/io/hdf5/h5_file.cpp"
