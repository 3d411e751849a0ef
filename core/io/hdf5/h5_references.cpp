// References to objects of a file become references to those of its copy.
#include <cstring>

#include "core/io/hdf5/h5_copy.hpp"

namespace cambium::io::detail {

void FileCopy::mend_references() {
  for (const auto& path : scaled_) mend_scales(path);
  for (const auto& [scale, arrays] : uses_) list_uses(scale);
  for (const auto& [path, name] : referring_attributes_) mend_attribute(path, name);
  for (const auto& path : referring_) mend_data_set(path);
}

/// Path of the target of a reference; empty for a null one.
static std::string name_of(hid_t object, H5R_type_t kind, const void* reference) {
  const auto length = H5Rget_name(object, kind, reference, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Rget_name(object, kind, reference, name.data(), name.size());
  name.pop_back();
  return name;
}

/// Gives an array of the copy the scales that it had, by their names.
void FileCopy::mend_scales(const std::string& path) {
  const Handle set = opened(path), list(H5Aopen(set.id(), "DIMENSION_LIST", H5P_DEFAULT)),
               space(H5Aget_space(list.id())), type(H5Tvlen_create(H5T_STD_REF_OBJ));
  std::vector<hvl_t> rows(H5Sget_simple_extent_npoints(space.id()), hvl_t{0, nullptr});
  if (H5Aread(list.id(), type.id(), rows.data()) < 0) return;
  std::vector<std::vector<hobj_ref_t>> references(rows.size());
  std::vector<hvl_t> fresh(rows.size(), hvl_t{0, nullptr});
  for (std::size_t d = 0; d < rows.size(); ++d) {
    for (std::size_t k = 0; k < rows[d].len; ++k) {
      const std::string scale = name_of(set.id(), H5R_OBJECT, static_cast<const hobj_ref_t*>(rows[d].p) + k);
      hobj_ref_t reference;
      if (scale.empty() || H5Rcreate(&reference, new_root(), scale.c_str(), H5R_OBJECT, -1) < 0) continue;
      references[d].push_back(reference);
      uses_[scale].emplace_back(path, static_cast<int>(d));
    }
    fresh[d] = {references[d].size(), references[d].data()};
  }
  const Handle copy = opened_copy(path);
  const Handle made(H5Acreate2(copy.id(), "DIMENSION_LIST", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  checked_status(H5Awrite(made.id(), type.id(), fresh.data()), "write the scales of", to_.file(), path);
  H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, rows.data());
}

/// Restores the list of uses of a scale that had one.
void FileCopy::list_uses(const std::string& scale) {
  const Handle old = opened(scale);
  if (H5Aexists(old.id(), "REFERENCE_LIST") <= 0) return;
  struct Use {
    hobj_ref_t array;
    int dimension;
  };
  const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Use)));
  H5Tinsert(type.id(), "dataset", HOFFSET(Use, array), H5T_STD_REF_OBJ);
  H5Tinsert(type.id(), "dimension", HOFFSET(Use, dimension), H5T_NATIVE_INT);
  std::vector<Use> uses;
  for (const auto& [array, dimension] : uses_[scale]) {
    Use use{};
    H5Rcreate(&use.array, new_root(), array.c_str(), H5R_OBJECT, -1);
    use.dimension = dimension;
    uses.push_back(use);
  }
  const hsize_t count = uses.size();
  const Handle copy = opened_copy(scale), space(H5Screate_simple(1, &count, nullptr));
  const Handle made(H5Acreate2(copy.id(), "REFERENCE_LIST", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  checked_status(H5Awrite(made.id(), type.id(), uses.data()), "write the uses of", to_.file(), scale);
}

/// References of `object`'s file translated to those of the copy; null ones stay zero.
std::vector<char> FileCopy::translated(hid_t object, const Handle& type, const std::vector<char>& old) const {
  const std::size_t width = H5Tget_size(type.id());
  const bool parts = H5Tequal(type.id(), H5T_STD_REF_DSETREG) > 0;
  const H5R_type_t kind = parts ? H5R_DATASET_REGION : H5R_OBJECT;
  std::vector<char> out(old.size(), '\0');
  for (std::size_t at = 0; at + width <= old.size(); at += width) {
    const std::string name = name_of(object, kind, &old[at]);
    if (name.empty()) continue;
    const Handle region(parts ? H5Rget_region(object, kind, &old[at]) : -1);
    H5Rcreate(&out[at], new_root(), name.c_str(), kind, region.id());
  }
  return out;
}

void FileCopy::mend_attribute(const std::string& path, const std::string& name) {
  const Handle from = opened(path), to = opened_copy(path);
  const Handle in(H5Aopen(from.id(), name.c_str(), H5P_DEFAULT)), out(H5Aopen(to.id(), name.c_str(), H5P_DEFAULT));
  const Handle type(H5Aget_type(in.id())), space(H5Aget_space(in.id()));
  const auto points = H5Sget_simple_extent_npoints(space.id());
  if (points <= 0) return;
  std::vector<char> values(static_cast<std::size_t>(points) * H5Tget_size(type.id()), '\0');
  checked_status(H5Aread(in.id(), type.id(), values.data()), "read", from_.file(), path + "@" + name);
  values = translated(from.id(), type, values);
  checked_status(H5Awrite(out.id(), type.id(), values.data()), "write", to_.file(), path + "@" + name);
}

void FileCopy::mend_data_set(const std::string& path) {
  const Handle from = opened(path), to = opened_copy(path), type(H5Dget_type(from.id())),
               space(H5Dget_space(from.id()));
  const auto points = H5Sget_simple_extent_npoints(space.id());
  if (points <= 0) return;
  std::vector<char> values(static_cast<std::size_t>(points) * H5Tget_size(type.id()), '\0');
  checked_status(H5Dread(from.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read", from_.file(),
                 path);
  values = translated(from.id(), type, values);
  checked_status(H5Dwrite(to.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write", to_.file(), path);
}

}  // namespace cambium::io::detail
