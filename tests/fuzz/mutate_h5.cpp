#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace fuzz {
namespace {

/// What can be changed: an object, or an attribute of one.
struct Place {
  std::string path, attribute;  ///< attribute: empty for the object itself
  bool group = false;
};

std::vector<Place> places(hid_t file) {
  std::vector<std::string> paths{"/"};
  auto each = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(std::string("/") + name);
    return 0;
  };
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, each, &paths);
  std::vector<Place> out;
  for (const auto& path : paths) {
    const hid_t object = H5Oopen(file, path.c_str(), H5P_DEFAULT);
    if (object < 0) continue;
    const bool group = H5Iget_type(object) == H5I_GROUP;
    if (path != "/") out.push_back({path, "", group});
    std::vector<std::string> names;
    auto collect = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
      static_cast<std::vector<std::string>*>(to)->push_back(name);
      return 0;
    };
    hsize_t position = 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, collect, &names);
    H5Oclose(object);
    for (const auto& name : names) out.push_back({path, name, group});
  }
  return out;
}

/// The value of a dataset or attribute: its type, extents and bytes; texts of any length as strings.
struct Value {
  hid_t type = -1;
  std::vector<hsize_t> extent;
  bool scalar = false, text = false;
  std::vector<char> bytes;
  std::vector<std::string> texts;

  std::size_t count() const {
    std::size_t n = 1;
    for (auto e : extent) n *= e;
    return n;
  }
};

Value read_value(hid_t file, const Place& place) {
  const bool attribute = !place.attribute.empty();
  const hid_t from = attribute
                         ? H5Aopen_by_name(file, place.path.c_str(), place.attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                         : H5Dopen2(file, place.path.c_str(), H5P_DEFAULT);
  const hid_t space = attribute ? H5Aget_space(from) : H5Dget_space(from);
  Value v;
  v.type = attribute ? H5Aget_type(from) : H5Dget_type(from);
  v.extent.resize(std::max(0, H5Sget_simple_extent_ndims(space)));
  if (!v.extent.empty()) H5Sget_simple_extent_dims(space, v.extent.data(), nullptr);
  v.scalar = v.extent.empty();
  const std::size_t n = v.count();
  v.text = H5Tis_variable_str(v.type) > 0;
  if (v.text) {
    std::vector<char*> pointers(n, nullptr);
    if (n)
      (attribute ? H5Aread(from, v.type, pointers.data())
                 : H5Dread(from, v.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()));
    for (auto* p : pointers) v.texts.push_back(p ? p : "");
    if (n) H5Dvlen_reclaim(v.type, space, H5P_DEFAULT, pointers.data());
  } else {
    v.bytes.resize(n * H5Tget_size(v.type));
    if (n)
      (attribute ? H5Aread(from, v.type, v.bytes.data())
                 : H5Dread(from, v.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.bytes.data()));
  }
  H5Sclose(space);
  attribute ? H5Aclose(from) : H5Dclose(from);
  return v;
}

void remove(hid_t file, const Place& place) {
  if (place.attribute.empty())
    H5Ldelete(file, place.path.c_str(), H5P_DEFAULT);
  else
    H5Adelete_by_name(file, place.path.c_str(), place.attribute.c_str(), H5P_DEFAULT);
}

/// Puts a value in the place of another.
void write_value(hid_t file, const Place& place, const Value& v) {
  const bool attribute = !place.attribute.empty();
  const hid_t space =
      v.scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(v.extent.size()), v.extent.data(), nullptr);
  std::vector<const char*> pointers;
  for (const auto& text : v.texts) pointers.push_back(text.c_str());
  const void* data = v.text ? static_cast<const void*>(pointers.data()) : v.bytes.data();
  // A dataset keeps its attributes: they are read before it is replaced, and put back.
  std::vector<std::pair<Place, Value>> kept;
  if (!attribute)
    for (const auto& other : places(file))
      if (other.path == place.path && !other.attribute.empty()) kept.emplace_back(other, read_value(file, other));
  remove(file, place);
  if (attribute) {
    const hid_t to = H5Acreate_by_name(file, place.path.c_str(), place.attribute.c_str(), v.type, space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT);
    if (v.count()) H5Awrite(to, v.type, data);
    H5Aclose(to);
  } else {
    const hid_t to = H5Dcreate2(file, place.path.c_str(), v.type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (v.count()) H5Dwrite(to, v.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(to);
    for (const auto& [where, value] : kept) {
      const hid_t room = value.scalar
                             ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(static_cast<int>(value.extent.size()), value.extent.data(), nullptr);
      std::vector<const char*> words;
      for (const auto& text : value.texts) words.push_back(text.c_str());
      const hid_t back = H5Acreate_by_name(file, where.path.c_str(), where.attribute.c_str(), value.type, room,
                                           H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      if (value.count())
        H5Awrite(back, value.type, value.text ? static_cast<const void*>(words.data()) : value.bytes.data());
      H5Aclose(back);
      H5Sclose(room);
      H5Tclose(value.type);
    }
  }
  H5Sclose(space);
}

/// Halved, empty, of one row, doubled, or with a dimension more or less.
void reshape(Value& v, Random& random) {
  const std::size_t size = v.text ? 1 : H5Tget_size(v.type);
  const auto resized = [&](std::size_t n) {
    if (v.text)
      v.texts.resize(n, v.texts.empty() ? "" : v.texts.front());
    else
      v.bytes.resize(n * size, '\1');
  };
  if (v.scalar) {
    v.scalar = false;
    v.extent = {below(random, 2) ? hsize_t{0} : hsize_t{3}};
    return resized(v.count());
  }
  switch (below(random, 6)) {
    case 0:
      v.extent[0] /= 2;
      break;
    case 1:
      v.extent[0] = 0;
      break;
    case 2:
      v.extent[0] = 1;
      break;
    case 3:
      v.extent[0] = 2 * v.extent[0] + 1;
      break;
    case 4:
      v.extent = {v.count()};
      break;
    default:
      v.extent.insert(v.extent.begin(), 1);
  }
  resized(v.count());
}

template <class T>
void put(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void extreme_number(char* to, hid_t type, Random& random) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT && (size == 8 || size == 4)) {
    const double values[] = {-1.0,
                             0.0,
                             1.0,
                             1e18,
                             -1e18,
                             1e308,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             0.5,
                             1e9,
                             1e-300};
    const double value = values[below(random, std::size(values))];
    size == 8 ? put(to, value) : put(to, static_cast<float>(value));
  } else {
    const std::int64_t values[] = {-1,
                                   0,
                                   1,
                                   2,
                                   1000,
                                   1000000000,
                                   std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::int64_t{1} << 40};
    const std::int64_t value = values[below(random, std::size(values))];
    std::memcpy(to, &value, std::min<std::size_t>(size, 8));
  }
}

void change_values(Value& v, Random& random) {
  if (v.text) {
    if (v.texts.empty()) return;
    auto& text = v.texts[below(random, v.texts.size())];
    const std::string others[] = {"", "[]", "{}", "null", "\xff", "0"};
    text = below(random, 3) || text.empty() ? mutate_text(text, random) : others[below(random, std::size(others))];
    text = text.substr(0, text.find('\0'));
    return;
  }
  if (v.bytes.empty()) return;
  const std::size_t size = H5Tget_size(v.type), n = v.bytes.size() / size;
  if (below(random, 3) == 0)
    for (std::size_t k = 0; k < n; ++k) {
      Random same = random;
      extreme_number(&v.bytes[k * size], v.type, same);
    }
  else
    extreme_number(&v.bytes[below(random, n) * size], v.type, random);
}

/// Text where numbers stand, whole numbers where reals stand, the other way round.
void change_type(Value& v, Random& random) {
  H5Tclose(v.type);
  const std::size_t n = v.count();
  v.text = !v.text && below(random, 2);
  if (v.text) {
    v.type = H5Tcopy(H5T_C_S1);
    H5Tset_size(v.type, H5T_VARIABLE);
    v.texts.assign(n, "text");
    return;
  }
  const bool real = below(random, 2);
  v.texts.clear();
  v.type = H5Tcopy(real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
  v.bytes.assign(8 * n, '\0');
  for (std::size_t k = 0; k < n; ++k)
    real ? put(&v.bytes[8 * k], 0.25 * static_cast<double>(k)) : put(&v.bytes[8 * k], static_cast<std::int64_t>(k) - 1);
}

void change(hid_t file, Random& random) {
  const auto all = places(file);
  if (all.empty()) return;
  const Place place = all[below(random, all.size())];
  if (below(random, 5) == 0 || (place.group && place.attribute.empty())) return remove(file, place);
  Value v = read_value(file, place);
  if (!v.text &&
      H5Tdetect_class(v.type, H5T_VLEN) > 0) {  // bytes are addresses in memory: HDF5 would follow changed ones
    H5Tclose(v.type);
    return remove(file, place);
  }
  switch (below(random, 5)) {
    case 0:
    case 1:
      reshape(v, random);
      break;
    case 2:
    case 3:
      change_values(v, random);
      break;
    default:
      change_type(v, random);
  }
  write_value(file, place, v);
  H5Tclose(v.type);
}

}  // namespace

void mutate_h5(const std::string& path, Random& random) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  H5Pclose(access);
  if (file < 0) return;
  for (std::size_t edits = 1 + below(random, 2); edits > 0; --edits) change(file, random);
  H5Fclose(file);
}

}  // namespace fuzz
