// Entry points that make the filter a plugin that HDF5 loads automatically, into h5dump, h5py or a viewer, from a
// folder named by HDF5_PLUGIN_PATH.
#include <H5PLextern.h>

#include "core/io/hdf5/filter.hpp"

extern "C" {
H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info(void) { return &cambium::io::lossy_filter; }
}
