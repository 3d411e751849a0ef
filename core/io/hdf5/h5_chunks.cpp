#include "core/io/hdf5/h5_chunks.hpp"

#include <algorithm>

#include "core/io/hdf5/h5_internal.hpp"

namespace cambium::io {

namespace {

struct ChunkedArray : Object {
  static hid_t id(const Object& object) { return (object.*(&ChunkedArray::handle_)).id(); }
};

}  // namespace

ChunkCount count_chunks([[maybe_unused]] const Dataset& array) {
  ChunkCount out;
#if H5_VERSION_GE(1, 10, 5)
  const auto shape = array.shape(), chunk = array.chunk();
  if (chunk.empty()) return out;
  out.all = 1;
  for (std::size_t k = 0; k < chunk.size(); ++k) out.all *= (shape[k] + chunk[k] - 1) / chunk[k];
  const detail::Entered entered;
  const Handle space(H5Dget_space(ChunkedArray::id(array)));
  hsize_t written = 0;
  if (H5Dget_num_chunks(ChunkedArray::id(array), space.id(), &written) < 0) return H5Eclear2(H5E_DEFAULT), ChunkCount{};
  out.unwritten = std::max<std::int64_t>(0, out.all - static_cast<std::int64_t>(written));
#endif
  return out;
}

bool has_own_fill(const Dataset& array) {
  const detail::Entered entered;
  const Handle properties(H5Dget_create_plist(ChunkedArray::id(array)));
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double fill = 0.0;
  const bool own = H5Pfill_value_defined(properties.id(), &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
                   H5Pget_fill_value(properties.id(), H5T_NATIVE_DOUBLE, &fill) >= 0 && fill != 0.0;
  H5Eclear2(H5E_DEFAULT);  // errors of non-numeric types
  return own;
}

}  // namespace cambium::io
