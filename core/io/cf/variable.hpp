#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cambium::io::cf {

/// Storage type of values in a file.
enum class Stored { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
std::size_t size_of(Stored type);
bool is_real(Stored type);
/// "16-bit integers"
std::string words_for(Stored type);

/// Text, or values of one type; a long double holds every 64-bit integer.
struct Attribute {
  std::optional<Stored> type;  ///< none for text
  std::string text;
  std::vector<long double> numbers;
};

/// An array of a file as the file has it: nothing unpacked, nothing missing.
class Variable {
 public:
  virtual ~Variable() = default;
  virtual const std::string& path() const = 0;  ///< "sst", "group/sst"
  std::string name() const { return path().substr(path().rfind('/') + 1); }
  virtual std::vector<std::int64_t> shape() const = 0;
  /// Name of each dimension, the same one for the same dimension of two variables; empty if the file names none.
  virtual std::vector<std::string> dimensions() const = 0;
  virtual std::optional<Stored> type() const = 0;  ///< none for text and compound types
  /// Extents of the chunks, each of which is read in full; empty if any block can be read.
  virtual std::vector<std::int64_t> chunk() const { return {}; }
  virtual std::optional<Attribute> attribute(const std::string& name) const = 0;
  /// The library's fill value for unwritten data without a fill attribute; none if the library defines none.
  virtual std::optional<long double> default_fill() const = 0;
  /// The block that starts at `start`, in the stored type and native byte order.
  virtual void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, void* out) const = 0;

  /// Text of an attribute; empty if it is not text.
  std::string text(const std::string& name) const;
};

/// A file with variables.
class Container {
 public:
  virtual ~Container() = default;
  virtual const std::string& path() const = 0;
  /// Paths of the arrays of one group ("" for the top).
  virtual std::vector<std::string> variables(const std::string& group) const = 0;
  /// Paths of all groups, each after its parent; NetCDF-3 has none.
  virtual std::vector<std::string> groups() const { return {}; }
  /// Null if there is no such array.
  virtual std::unique_ptr<Variable> variable(const std::string& path) const = 0;
};

/// HDF5 and NetCDF-4 files through HDF5; NetCDF-3 files (classic, 64-bit offset, CDF-5) through libnetcdf; whatever
/// their names. InputError when the file cannot be opened, or libnetcdf is needed and was not found.
std::unique_ptr<Container> open_container(const std::string& path);
/// True when NetCDF-3 files can be read.
bool reads_classic_netcdf();

/// NetCDF's default fill value for unwritten data, by type.
long double netcdf_fill(Stored type);

std::unique_ptr<Container> open_hdf5_container(const std::string& path);
std::unique_ptr<Container> open_classic_container(const std::string& path);

}  // namespace cambium::io::cf
