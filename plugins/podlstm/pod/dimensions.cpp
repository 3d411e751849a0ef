// Dimension scales by hand: they need object references, which core/io does not offer, and the high-level HDF5 library,
// which offers them, is missing from some installations. Format: HDF5 Dimension Scale Specification 1.1.
#include <hdf5.h>

#include <set>

#include "core/base/error.hpp"
#include "plugins/podlstm/pod/pod_file.hpp"

namespace cambium::podlstm {

namespace {

/// Closes an identifier by the function of its kind.
struct Id {
  hid_t id;
  herr_t (*close)(hid_t);
  Id(hid_t i, herr_t (*c)(hid_t)) : id(i), close(c) {
    if (id < 0) throw InternalError("HDF5 refused an object of a file that was just written");
  }
  ~Id() { close(id); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
};

void write_text(hid_t object, const char* name, const std::string& text) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type.id, text.size() + 1);
  Id attribute(H5Acreate2(object, name, type.id, space.id, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(attribute.id, type.id, text.c_str());
}

void attach(hid_t file, const Dimensions& d) {
  std::vector<hobj_ref_t> references(d.scales.size());
  std::vector<hvl_t> rows(d.scales.size());
  for (std::size_t k = 0; k < d.scales.size(); ++k) {
    H5Rcreate(&references[k], file, d.scales[k].c_str(), H5R_OBJECT, -1);
    rows[k] = {1, &references[k]};
  }
  const hsize_t rank = rows.size();
  Id type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose), space(H5Screate_simple(1, &rank, nullptr), H5Sclose);
  Id array(H5Dopen2(file, d.array.c_str(), H5P_DEFAULT), H5Dclose);
  Id attribute(H5Acreate2(array.id, "DIMENSION_LIST", type.id, space.id, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (H5Awrite(attribute.id, type.id, rows.data()) < 0) throw InternalError("HDF5 refused the dimensions of " + d.array);
}

}  // namespace

void attach_dimensions(const std::string& path, const std::vector<Dimensions>& arrays) {
  Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  std::set<std::string> scales;
  for (const auto& d : arrays) scales.insert(d.scales.begin(), d.scales.end());
  for (const auto& name : scales) {
    Id array(H5Dopen2(file.id, name.c_str(), H5P_DEFAULT), H5Dclose);
    write_text(array.id, "CLASS", "DIMENSION_SCALE");
    write_text(array.id, "NAME", name);
  }
  for (const auto& d : arrays)
    if (!scales.contains(d.array)) attach(file.id, d);
}

}  // namespace cambium::podlstm
