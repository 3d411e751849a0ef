// Dimension scales by hand: the high-level HDF5 library, which offers them, is missing from some installations. Format:
// HDF5 Dimension Scale Specification 1.1.
#include <string>
#include <utility>
#include <vector>

#include "core/io/hdf5/h5_internal.hpp"

namespace cambium::io {

using namespace detail;

namespace {
/// Text with its terminating zero: the library takes no other for the mark of a scale.
std::pair<Handle, std::vector<char>> terminated(const std::string& text) {
  std::vector<char> characters(text.begin(), text.end());
  characters.push_back('\0');
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), characters.size());
  return {type, characters};
}
}  // namespace

void Group::attach_scales(const std::string& array, const std::vector<std::string>& scales) {
  const Entered entered;
  std::vector<hobj_ref_t> references(scales.size());
  std::vector<hvl_t> rows(scales.size());
  for (std::size_t k = 0; k < scales.size(); ++k) {
    Dataset scale = dataset(scales[k]);
    if (!scale.has_attribute("CLASS")) {
      const auto [mark, mark_text] = terminated("DIMENSION_SCALE");
      const auto [name, name_text] = terminated(scales[k].substr(scales[k].rfind('/') + 1));
      scale.write_attribute("CLASS", mark, scalar_space(), mark_text.data());
      if (!scale.has_attribute("NAME")) scale.write_attribute("NAME", name, scalar_space(), name_text.data());
    }
    checked_status(H5Rcreate(&references[k], handle_.id(), scale.path().c_str(), H5R_OBJECT, -1), "refer to", file_,
                   scale.path());
    rows[k] = {1, &references[k]};
  }
  const hsize_t rank = rows.size();
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ)), space(H5Screate_simple(1, &rank, nullptr));
  dataset(array).write_attribute("DIMENSION_LIST", type, space, rows.data());
}

}  // namespace cambium::io
