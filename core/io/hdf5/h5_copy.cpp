#include "core/io/hdf5/h5_copy.hpp"

#include <algorithm>
#include <vector>

namespace cambium::io::detail {

namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
using LinkInfo = H5L_info1_t;
constexpr auto for_each_link = H5Literate1;
#else
using ObjectInfo = H5O_info_t;
using LinkInfo = H5L_info_t;
constexpr auto for_each_link = H5Literate;
#endif
constexpr auto info_by_name = H5Oget_info_by_name1;

/// Creation properties of an object.
Handle creation_of(const Handle& object) {
  switch (H5Iget_type(object.id())) {
    case H5I_GROUP:
      return Handle(H5Gget_create_plist(object.id()));
    case H5I_DATASET:
      return Handle(H5Dget_create_plist(object.id()));
    default:
      return {};
  }
}

H5_index_t by(unsigned order) { return order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME; }

H5_index_t order_of_attributes(const Handle& object) {
  unsigned order = 0;
  const Handle properties = creation_of(object);
  if (properties.id() >= 0) H5Pget_attr_creation_order(properties.id(), &order);
  return by(order);
}

/// An empty file whose root tracks the creation order of links and attributes if that of `from` does.
File made_like(const File& from, hid_t from_id, const std::string& to, const std::string& shown) {
  File made = File::create(to, shown);
  const Handle root = checked(H5Gopen2(from_id, "/", H5P_DEFAULT), "read", from.file(), "/");
  const Handle old(H5Gget_create_plist(root.id())), properties(H5Pcreate(H5P_FILE_CREATE));
  unsigned links = 0, attributes = 0;
  H5Pget_link_creation_order(old.id(), &links);
  H5Pget_attr_creation_order(old.id(), &attributes);
  if (links == 0 && attributes == 0) return made;
  made.close();
  H5Pset_link_creation_order(properties.id(), links);
  H5Pset_attr_creation_order(properties.id(), attributes);
  const hid_t id = H5Fcreate(to.c_str(), H5F_ACC_TRUNC, properties.id(), H5P_DEFAULT);
  if (id < 0 || H5Fclose(id) < 0) fail("make", to, "/");
  return File::append(to);
}

std::string below(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

}  // namespace

bool holds_references(const Handle& type) { return H5Tget_class(type.id()) == H5T_REFERENCE; }

FileCopy::FileCopy(const std::string& from, const std::string& to, const std::string& shown, Recode recode)
    : from_(File::open(from)), to_(made_like(from_, from_.id(), to, shown)), recode_(std::move(recode)) {}

void FileCopy::run() {
  ObjectInfo info;
  checked_status(info_by_name(root(), "/", &info, H5P_DEFAULT), "read", from_.file(), "/");
  copied_.emplace(info.addr, "/");
  copy_attributes("/");
  copy_group("/");
  mend_references();
  to_.close();
}

Handle FileCopy::opened(const std::string& path) const {
  return checked(H5Oopen(root(), path.c_str(), H5P_DEFAULT), "read", from_.file(), path);
}

Handle FileCopy::opened_copy(const std::string& path) const {
  return checked(H5Oopen(new_root(), path.c_str(), H5P_DEFAULT), "write", to_.file(), path);
}

std::vector<FileCopy::Link> FileCopy::links_of(const std::string& group) const {
  const Handle here = checked(H5Gopen2(root(), group.c_str(), H5P_DEFAULT), "read", from_.file(), group);
  const Handle properties(H5Gget_create_plist(here.id()));
  unsigned order = 0;
  H5Pget_link_creation_order(properties.id(), &order);
  std::vector<Link> out;
  const auto one = [](hid_t, const char* name, const LinkInfo* info, void* list) -> herr_t {
    static_cast<std::vector<Link>*>(list)->push_back(
        {name, info->type, info->cset, info->type == H5L_TYPE_HARD ? 0 : info->u.val_size});
    return 0;
  };
  checked_status(for_each_link(here.id(), by(order), H5_ITER_INC, nullptr, one, &out), "read", from_.file(), group);
  return out;
}

void FileCopy::copy_group(const std::string& group) {
  for (const Link& link : links_of(group)) copy_link(below(group, link.name), link);
}

void FileCopy::copy_link(const std::string& path, const Link& link) {
  const Handle properties(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_char_encoding(properties.id(), link.characters);
  if (link.type == H5L_TYPE_HARD) return copy_object(path, properties);
  std::vector<char> says(link.bytes + 1, '\0');
  checked_status(H5Lget_val(root(), path.c_str(), says.data(), says.size(), H5P_DEFAULT), "read", from_.file(), path);
  herr_t made = -1;
  if (link.type == H5L_TYPE_SOFT) {
    made = H5Lcreate_soft(says.data(), new_root(), path.c_str(), properties.id(), H5P_DEFAULT);
  } else if (link.type == H5L_TYPE_EXTERNAL) {
    unsigned flags = 0;
    const char *file = nullptr, *object = nullptr;
    if (H5Lunpack_elink_val(says.data(), link.bytes, &flags, &file, &object) >= 0)
      made = H5Lcreate_external(file, object, new_root(), path.c_str(), properties.id(), H5P_DEFAULT);
  } else {
    made = H5Lcreate_ud(new_root(), path.c_str(), link.type, says.data(), link.bytes, properties.id(), H5P_DEFAULT);
  }
  checked_status(made, "make the link", to_.file(), path);
}

void FileCopy::copy_object(const std::string& path, const Handle& link_properties) {
  ObjectInfo info;
  checked_status(info_by_name(root(), path.c_str(), &info, H5P_DEFAULT), "read", from_.file(), path);
  const auto [known, fresh] = copied_.emplace(info.addr, path);
  if (!fresh) {  // one object under two names stays one
    checked_status(
        H5Lcreate_hard(new_root(), known->second.c_str(), new_root(), path.c_str(), link_properties.id(), H5P_DEFAULT),
        "make the link", to_.file(), path);
  } else if (info.type == H5O_TYPE_GROUP) {
    checked(H5Gcreate2(new_root(), path.c_str(), link_properties.id(), creation_of(opened(path)).id(), H5P_DEFAULT),
            "make", to_.file(), path);
    copy_attributes(path);
    copy_group(path);
  } else if (info.type == H5O_TYPE_DATASET) {
    copy_data_set(path, link_properties);
  } else {
    checked_status(H5Ocopy(root(), path.c_str(), new_root(), path.c_str(), H5P_DEFAULT, link_properties.id()), "copy",
                   from_.file(), path);
  }
}

namespace {

/// True if its values are in other files, whose relative names may not resolve from the folder of a copy.
bool lies_elsewhere(const Handle& set) {
  const Handle properties(H5Dget_create_plist(set.id()));
  return H5Pget_layout(properties.id()) == H5D_VIRTUAL || H5Pget_external_count(properties.id()) > 0;
}

}  // namespace

/// A contiguous data set with the values of one stored in other files.
void FileCopy::gather_data_set(const std::string& path, const Handle& link_properties) {
  const Handle from = opened(path), named(H5Dget_type(from.id())), type(H5Tcopy(named.id()));
  const Handle old_space(H5Dget_space(from.id()));
  std::vector<hsize_t> extent(H5S_MAX_RANK);
  const int rank = std::max(H5Sget_simple_extent_dims(old_space.id(), extent.data(), nullptr), 0);
  const Handle space(rank > 0 ? H5Screate_simple(rank, extent.data(), nullptr) : H5Scopy(old_space.id()));
  const Handle to = checked(
      H5Dcreate2(new_root(), path.c_str(), type.id(), space.id(), link_properties.id(), H5P_DEFAULT, H5P_DEFAULT),
      "make", to_.file(), path);
  const hsize_t rows = rank > 0 ? extent[0] : 1;
  std::size_t row_bytes = H5Tget_size(type.id());
  for (int k = 1; k < rank; ++k) row_bytes *= extent[k];
  constexpr std::size_t most = std::size_t{16} << 20;
  const hsize_t at_once = std::max<hsize_t>(most / std::max<std::size_t>(row_bytes, 1), 1);
  for (hsize_t row = 0; row < rows && row_bytes > 0; row += at_once) {
    auto start = std::vector<hsize_t>(H5S_MAX_RANK, 0), count = extent;
    start[0] = row;
    count[0] = std::min(at_once, rows - row);
    const Handle part(H5Scopy(space.id()));
    if (rank > 0) H5Sselect_hyperslab(part.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    const Handle memory(rank > 0 ? H5Screate_simple(rank, count.data(), nullptr) : H5Scopy(space.id()));
    std::vector<char> values(row_bytes * (rank > 0 ? count[0] : 1));
    checked_status(H5Dread(from.id(), type.id(), memory.id(), part.id(), H5P_DEFAULT, values.data()), "read",
                   from_.file(), path);
    checked_status(H5Dwrite(to.id(), type.id(), memory.id(), part.id(), H5P_DEFAULT, values.data()), "write",
                   to_.file(), path);
    if (H5Tdetect_class(type.id(), H5T_VLEN) > 0 || H5Tis_variable_str(type.id()) > 0)
      H5Dvlen_reclaim(type.id(), memory.id(), H5P_DEFAULT, values.data());
  }
}

void FileCopy::copy_data_set(const std::string& path, const Handle& link_properties) {
  const bool again = recode_(from_.stored(path), to_, root(), new_root());
  const Handle copies(H5Pcreate(H5P_OBJECT_COPY));
  if (!again && lies_elsewhere(opened(path))) {
    gather_data_set(path, link_properties);
  } else if (!again) {
    H5Pset_copy_object(copies.id(), H5O_COPY_WITHOUT_ATTR_FLAG);
    checked_status(H5Ocopy(root(), path.c_str(), new_root(), path.c_str(), copies.id(), link_properties.id()), "copy",
                   from_.file(), path);
  }
  copy_attributes(path);
  const Handle set = opened(path), type(H5Dget_type(set.id()));
  if (holds_references(type)) referring_.push_back(path);
  if (from_.stored(path).has_attribute("DIMENSION_LIST")) scaled_.push_back(path);
}

void FileCopy::copy_attributes(const std::string& path) {
  const Handle from = opened(path), to = opened_copy(path);
  std::vector<std::string> names;
  const auto one = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  hsize_t begin = 0;
  checked_status(H5Aiterate2(from.id(), order_of_attributes(from), H5_ITER_INC, &begin, one, &names),
                 "read the attributes of", from_.file(), path);
  for (const auto& name : names)
    checked_status(copy_attribute(path, from, to, name) ? 0 : -1, "copy", from_.file(), path + "@" + name);
}

/// False if HDF5 refuses. References are filled in once all objects exist.
bool FileCopy::copy_attribute(const std::string& path, const Handle& from, const Handle& to, const std::string& name) {
  if (name == "DIMENSION_LIST" || name == "REFERENCE_LIST") return true;  // created again
  const Handle in(H5Aopen(from.id(), name.c_str(), H5P_DEFAULT));
  const Handle named(H5Aget_type(in.id())), type(H5Tcopy(named.id())), space(H5Aget_space(in.id()));
  const Handle properties(H5Aget_create_plist(in.id()));
  const Handle out(H5Acreate2(to.id(), name.c_str(), type.id(), space.id(), properties.id(), H5P_DEFAULT));
  if (out.id() < 0) return false;
  if (holds_references(type)) {
    referring_attributes_.emplace_back(path, name);
    return true;
  }
  const auto points = H5Sget_simple_extent_npoints(space.id());
  if (points <= 0) return true;
  std::vector<char> values(static_cast<std::size_t>(points) * H5Tget_size(type.id()), '\0');
  if (H5Aread(in.id(), type.id(), values.data()) < 0) return false;
  const herr_t written = H5Awrite(out.id(), type.id(), values.data());
  H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, values.data());
  return written >= 0;
}

}  // namespace cambium::io::detail
