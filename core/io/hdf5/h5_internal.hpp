#pragma once
#include <hdf5.h>

#include <mutex>
#include <string>

#include "core/io/hdf5/h5.hpp"

/// Shared by the h5_*.cpp files only.
namespace cambium::io::detail {

/// Held by everything that calls the library, which is usually built for one thread and keeps one global state: a data
/// loader reads in its own thread while the run writes.
struct Entered {
  Entered() { mutex().lock(); }
  ~Entered() { mutex().unlock(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  static std::recursive_mutex& mutex();
};

/// Starts the library and silences its error stack. Idempotent.
void start_hdf5();
/// The innermost message of HDF5's error stack, which is cleared; with the system's error text, if any.
std::string cause();
/// Throws InputError "cannot <action> '<path>' in '<file>': <cause>".
[[noreturn]] void fail(const std::string& action, const std::string& file, const std::string& path);

/// Wraps a new identifier; a negative one becomes fail().
inline Handle checked(hid_t id, const char* action, const std::string& file, const std::string& path) {
  if (id < 0) fail(action, file, path);
  return Handle(id);
}
inline void checked_status(herr_t status, const char* action, const std::string& file, const std::string& path) {
  if (status < 0) fail(action, file, path);
}

Handle type_of(DType type);  ///< HDF5 type of a DType, in memory and in files
Handle text_type();          ///< UTF-8 of any length
Handle space_of(const TensorRef& tensor);
Handle scalar_space();

/// `tensor` itself when contiguous, else a packed copy that lives as long as this. Host memory only.
class Packed {
 public:
  explicit Packed(const TensorRef& tensor);
  const void* data() const { return copy_.empty() ? source_ : copy_.data(); }

 private:
  const void* source_;
  std::vector<char> copy_;
};

/// Chunk of a series of rows: small rows share one of about 64 KiB, larger ones that come `rows_at_once` one of up to 1
/// MiB; HDF5 allows less than 4 GiB.
std::vector<std::int64_t> series_chunk(DType type, std::span<const std::int64_t> row_shape, std::int64_t rows_at_once);

/// Adds the filters shuffle and deflate. InputError if this HDF5 lacks them.
void set_lossless(const Handle& properties, const std::string& file, const std::string& name);

/// Name of an HDF5 type for messages: "64-bit integer", "text".
std::string describe_type(hid_t type);

}  // namespace cambium::io::detail
