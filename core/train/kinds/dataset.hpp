#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/base/tensor_ref.hpp"
#include "core/parallel/context.hpp"

namespace cambium::train {

/// One array of a data set: its name, unit and shape without the sample's own axis; -1 where samples differ.
struct FieldInfo {
  std::string name;  ///< such as "coord", "energy", "image"
  std::string unit;  ///< a unit of core/base/units, empty for a number
  std::vector<std::int64_t> shape;
  DType dtype = DType::f64;
};

/// One sample in host memory. Immutable once read, shared by the buffer, the batch and the network's caches.
struct Sample {
  std::int64_t id = 0;  ///< its number in the data set, the address of everything random about it
  std::map<std::string, TensorRef, std::less<>> fields;
  std::shared_ptr<const void> storage;  ///< what the fields point into
  std::int64_t bytes = 0;               ///< of all fields
};

using SamplePtr = std::shared_ptr<const Sample>;

/// Samples addressed by number, the same on every rank.
class Dataset {
 public:
  using Kind = Dataset;
  static constexpr std::string_view kind = "dataset";
  virtual ~Dataset() = default;
  /// Opens the files; throws InputError naming file, array and, for a bad number, the frame. Called once on every rank.
  virtual void open(Context&) = 0;
  virtual std::int64_t size() const = 0;
  virtual std::vector<FieldInfo> fields() const = 0;
  /// Reads samples, in the order of ids (sorted by the caller, so that neighbours can be read at once). May be called
  /// by several threads: a loader reads ahead while a part of the same set is validated.
  virtual std::vector<SamplePtr> read(std::span<const std::int64_t> ids) = 0;
  /// Samples that lie in one storage chunk with this one, as [first, last): what one read can bring.
  virtual std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const { return {id, id + 1}; }
  /// Bytes read from storage so far on this rank.
  virtual std::int64_t bytes_read() const { return 0; }
  /// Works that describe the data or their format, for the run's cite.bib.
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium::train
