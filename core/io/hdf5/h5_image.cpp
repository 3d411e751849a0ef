#include "core/io/hdf5/h5_image.hpp"

#include "core/base/recorder.hpp"
#include "core/io/hdf5/h5_internal.hpp"
#include "core/io/hdf5/seal.hpp"

namespace cambium::io {

std::vector<char> FileInMemory::sealed_image() {
  const Region region("HDF5: copy of a file", WorkKind::files);
  std::vector<char> out;
  {
    const detail::Entered entered;
    detail::checked_status(H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL), "write", file_, "/");
    const auto bytes = H5Fget_file_image(handle_.id(), nullptr, 0);
    detail::checked_status(bytes < 0 ? -1 : 0, "copy", file_, "/");
    out.resize(bytes);
    detail::checked_status(H5Fget_file_image(handle_.id(), out.data(), out.size()) < 0 ? -1 : 0, "copy", file_, "/");
  }
  seal(out);
  return out;
}

}  // namespace cambium::io
