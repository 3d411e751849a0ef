#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/codec/fields/field_codec.hpp"
#include "core/parallel/comm.hpp"

/// HDF5 files as C++ values. Identifiers are closed by destructors, values keep the type of the C++ variable, and every
/// failure is an InputError that names the file, the path inside it, what was found and how to fix it; the library's
/// own error stack is never printed. Nothing here is collective unless documented so. Several threads may use files at
/// once, each its own objects: calls of the library are serialised.
namespace cambium::io {

/// Release of the HDF5 library in use, e.g. "1.10.8".
std::string hdf5_version();
/// True when that library was built with MPI, so that File::open_collective() works.
bool hdf5_is_parallel();

/// Shared ownership of one HDF5 identifier.
class Handle {
 public:
  Handle() = default;
  explicit Handle(std::int64_t id) : id_(id) {}
  Handle(const Handle& other);
  Handle(Handle&& other) noexcept : id_(other.id_) { other.id_ = -1; }
  Handle& operator=(Handle other) noexcept;
  ~Handle();
  std::int64_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
};

namespace detail {
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
/// Location of a value: dataset or attribute of an object of a file.
struct Place {
  Handle handle;  ///< of the dataset or attribute
  std::string file, path;
  bool attribute = false;
};
std::vector<std::int64_t> shape_of(const Place&);
std::vector<std::string> read_strings(const Place&);
void read_numbers(const Place&, DType, void* out);
void require_one_value(const Place&);

template <class T>
T read(const Place& place) {
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return read_strings(place);
  } else if constexpr (IsVector<T>::value) {
    std::int64_t n = 1;
    for (auto extent : shape_of(place)) n *= extent;
    T out(static_cast<std::size_t>(n));
    read_numbers(place, dtype_of<typename T::value_type>(), out.data());
    return out;
  } else {
    require_one_value(place);
    if constexpr (std::is_same_v<T, std::string>) {
      return read_strings(place).front();
    } else {
      T out{};
      read_numbers(place, dtype_of<T>(), &out);
      return out;
    }
  }
}
}  // namespace detail

/// A contiguous host array as a tensor: `shape` defaults to one dimension.
template <class T>
TensorRef tensor_of(const T* data, std::initializer_list<std::int64_t> shape) {
  TensorRef t;
  t.data = const_cast<T*>(data);
  t.dtype = dtype_of<T>();
  t.is_const = true;
  for (auto extent : shape) t.shape[t.rank++] = extent;
  for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
  return t;
}
template <class T>
TensorRef tensor_of(std::span<const T> values) {
  return tensor_of(values.data(), {std::ssize(values)});
}
template <class T>
TensorRef tensor_of(const std::vector<T>& values) {
  return tensor_of(values.data(), {std::ssize(values)});
}

/// Common part of groups and datasets: a name and attributes.
class Object {
 public:
  const std::string& file() const { return file_; }  ///< name of the file
  const std::string& path() const { return path_; }  ///< absolute path inside the file

  bool has_attribute(const std::string& name) const;
  std::vector<std::string> attributes() const;
  /// T: std::string, a number, or a std::vector of them (row-major). Integers must fit, or InputError.
  template <class T>
  T attribute(const std::string& name) const {
    return detail::read<T>(attribute_place(name));
  }

  /// Replaces an attribute of that name.
  void set_attribute(const std::string& name, const std::string& text);
  void set_attribute(const std::string& name, const char* text) { set_attribute(name, std::string(text)); }
  void set_attribute(const std::string& name, const std::vector<std::string>& texts);
  /// InternalError for values of more than one dimension: netCDF opens no file that has such an attribute.
  void set_attribute(const std::string& name, const TensorRef& values);
  /// Fixed-length ASCII text, one or several of the same length, for formats that require it.
  void set_ascii_attribute(const std::string& name, const std::string& text);
  void set_ascii_attribute(const std::string& name, const std::vector<std::string>& texts);
  template <class T>
  requires std::is_arithmetic_v<T>
  void set_attribute(const std::string& name, T value) { set_attribute(name, tensor_of(&value, {})); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void set_attribute(const std::string& name, const std::vector<T>& values) { set_attribute(name, tensor_of(values)); }

 protected:
  Object(Handle handle, std::string file, std::string path)
      : handle_(std::move(handle)), file_(std::move(file)), path_(std::move(path)) {}
  detail::Place attribute_place(const std::string& name) const;
  void write_attribute(const std::string& name, Handle type, Handle space, const void* data);

  Handle handle_;
  std::string file_, path_;
};

/// An array in a file.
class Dataset : public Object {
 public:
  enum class Transfer { independent, collective };

  std::vector<std::int64_t> shape() const;
  std::int64_t elements() const;
  /// Chunk extent; empty if the storage is contiguous.
  std::vector<std::int64_t> chunk() const;
  std::int64_t stored_bytes() const;  ///< on disk, after compression
  bool is_text() const;
  DType dtype() const;  ///< InputError for text and for types that have no DType

  /// Everything: std::string, a number (datasets of one element), or a std::vector of them (row-major).
  template <class T>
  T read() const {
    return detail::read<T>(place());
  }
  /// Reads everything into contiguous host memory of the same shape; values are converted to the tensor's type.
  void read_into(const TensorRef& out) const;
  /// The block that starts at `start` and has the shape of `out` (same rank as the dataset).
  void read_block(std::span<const std::int64_t> start, const TensorRef& out) const;
  /// Overwrites the block that starts at `start`. With Transfer::collective (file opened by open_collective) every rank
  /// calls, those without data with a zero extent.
  void write_block(std::span<const std::int64_t> start, const TensorRef& in, Transfer transfer = Transfer::independent);
  /// Adds one row along dimension 0 of a series; `row` has the shape of one row.
  void append(const TensorRef& row);
  /// Sets the number of rows of a series: longer to fill it by write_block, shorter to drop the last rows.
  void resize(std::int64_t rows);

 private:
  friend class Group;
  using Object::Object;
  detail::Place place() const { return {handle_, file_, path_, false}; }
};

/// A folder in a file. Names may be paths ("a/b" or "/a/b").
class Group : public Object {
 public:
  bool exists(const std::string& name) const;
  bool is_group(const std::string& name) const;
  std::vector<std::string> list() const;  ///< names in this group, sorted

  Group group(const std::string& name) const;
  /// Makes the group and those above it; opens one that exists.
  Group create_group(const std::string& name);
  void remove(const std::string& name);

  /// InputError if there is none, and if it cannot be read in full: parts of a virtual data set, files of external
  /// storage or filters are missing.
  Dataset dataset(const std::string& name) const;
  template <class T>
  T read(const std::string& name) const {
    return dataset(name).read<T>();
  }

  /// Creates a dataset and fills it; parent groups are created. InputError if the name is taken.
  Dataset write(const std::string& name, const TensorRef& values);
  Dataset write(const std::string& name, const std::string& text);
  Dataset write(const std::string& name, const char* text) { return write(name, std::string(text)); }
  Dataset write(const std::string& name, const std::vector<std::string>& texts);
  template <class T>
  requires std::is_arithmetic_v<T> Dataset write(const std::string& name, T value) {
    return write(name, tensor_of(&value, {}));
  }
  template <class T>
  requires std::is_arithmetic_v<T> Dataset write(const std::string& name, const std::vector<T>& values) {
    return write(name, tensor_of(values));
  }

  /// Integers with a name for each value: `names[v]` is the name of v.
  Dataset write_enumeration(const std::string& name, const std::vector<int>& values,
                            const std::vector<std::string>& names);
  /// Attaches the datasets with the coordinates of each dimension to `array` (HDF5 Dimension Scale Specification), for
  /// xarray, netCDF and h5py. `scales` has a name for each dimension, relative to this group.
  void attach_scales(const std::string& array, const std::vector<std::string>& scales);
  /// Another name for an object of this file.
  void link(const std::string& existing, const std::string& name);

  /// Creates a dataset of this shape, allocated on disk, to be filled by write_block(). Contiguous, or in chunks of the
  /// extent `chunk` (as many dimensions as `shape`).
  Dataset allocate(const std::string& name, DType type, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> chunk = {});
  /// Creates an empty dataset (0, row_shape...) that grows along dimension 0, by `rows_at_once` rows or fewer.
  Dataset create_series(const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                        std::int64_t rows_at_once = 1);
  /// The same for rows of real values stored within an error bound: each row is one chunk and passes through the lossy
  /// filter. `weights`: of an enhancer fitted before, stored once for all rows. InputError if a row is 2 GiB or more.
  Dataset create_coded_series(const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                              const lowp::FieldCoding& coding, const lowp::Enhancer* weights = nullptr);
  Dataset create_series(const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                        lowp::LossyBound bound) {
    lowp::FieldCoding coding;
    coding.bound = bound;
    return create_coded_series(name, type, row_shape, coding);
  }

 protected:
  using Object::Object;
  std::string absolute(const std::string& name) const;
  Dataset make(const std::string& name, const Handle& type, const Handle& space, const Handle& properties);
  /// `stored`: it is copied as it is stored, so that its filters need not be here.
  Dataset opened(const std::string& name, bool stored) const;
};

/// An open file; it is its own root group. Closing it invalidates every group and dataset opened through it.
class File : public Group {
 public:
  /// Reads of contiguous datasets: through HDF5's default sieve buffer of 64 KiB, for blocks of many short lines, or
  /// only the requested bytes, for single samples.
  enum class Reads { sieved, exact };
  /// Existing file, read only; objects opened through it may outlive it.
  static File open(const std::string& path, Reads reads = Reads::sieved);
  /// New file; overwrites an old one of that name. Messages name it `shown` (if empty, the path).
  static File create(const std::string& path, const std::string& shown = {});
  static File append(const std::string& path);     ///< existing file, read and write
  static File in_memory(const std::string& name);  ///< a file that is never written to disk
  /// Collective: existing file, read and write, all ranks through MPI-IO. InputError when HDF5 is a serial one.
  static File open_collective(const std::string& path, const Comm& comm);

  File(File&&) = default;
  File& operator=(File&&) = default;
  void flush();  ///< everything written so far reaches the operating system
  void close();  ///< flush and close; InputError when the disk did not take it. The destructor closes silently.

 private:
  using Group::Group;
};

}  // namespace cambium::io
