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

/// A column of a text table: its heading "flux [W/m^2]" in two parts.
struct TableColumn {
  std::string name, unit;  ///< the unit is empty if the heading has none
  bool operator==(const TableColumn&) const = default;
};

/// One array of a data set: its name, unit and shape without the sample axis; -1 for an extent that varies between
/// samples.
struct FieldInfo {
  std::string name;  ///< such as "coord", "energy", "image"
  std::string unit;  ///< a unit of core/base/units, empty if dimensionless
  std::vector<std::int64_t> shape;
  DType dtype = DType::f64;
  std::vector<std::string> categories = {};  ///< names of classes, whose indices are the values; empty: numbers
  std::vector<TableColumn> columns = {};     ///< of the table that the values come from, in order; else empty
};

/// True if two samples have equally many values along different axes, apart from axes of one value: channels first,
/// (3, 8, 8), and channels last, (8, 8, 3). A network that takes them in one order would misread one of the two.
inline bool axes_differ(std::vector<std::int64_t> one, std::vector<std::int64_t> other) {
  std::int64_t values[] = {1, 1};
  for (const auto extent : one) values[0] *= extent;
  for (const auto extent : other) values[1] *= extent;
  std::erase(one, 1);
  std::erase(other, 1);
  return values[0] == values[1] && one.size() > 1 && other.size() > 1 && one != other;
}

/// False if both fields name their classes, but not alike: equal values then are different classes.
inline bool same_classes(const FieldInfo& one, const FieldInfo& other) {
  return one.categories.empty() || other.categories.empty() || one.categories == other.categories;
}

/// One sample in host memory. Immutable once read, shared by the buffer, the batch and the network's caches.
struct Sample {
  std::int64_t id = 0;  ///< index in the data set; also the address of its random numbers
  std::map<std::string, TensorRef, std::less<>> fields;
  std::shared_ptr<const void> storage;  ///< owns the memory of the fields
  std::int64_t bytes = 0;               ///< of all fields
};

using SamplePtr = std::shared_ptr<const Sample>;

/// Samples addressed by index, the same on every rank.
class Dataset {
 public:
  /// Origin of the samples that read() returns: files that it reads; memory, filled when the set is opened; computed.
  enum class Origin { unknown, files, memory, computed };
  using Kind = Dataset;
  static constexpr std::string_view kind = "dataset";
  virtual ~Dataset() = default;
  /// Opens the files; throws InputError naming file, array and, for an invalid value, the frame. Called once on every
  /// rank.
  virtual void open(Context&) = 0;
  virtual std::int64_t size() const = 0;
  virtual std::vector<FieldInfo> fields() const = 0;
  /// Reads samples, in the order of ids (sorted by the caller, to merge reads of neighbours). May be called by several
  /// threads: a loader reads ahead while another thread validates on the same set.
  virtual std::vector<SamplePtr> read(std::span<const std::int64_t> ids) = 0;
  /// Range [first, last) of the samples in the same storage chunk: what one read can return.
  virtual std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const { return {id, id + 1}; }
  /// First index of the sample that this index repeats, or the index itself; and the next index of the same sample, -1
  /// after the last one. A loader reads such a sample once. chunk_of() of a first index contains first indices only.
  virtual std::int64_t first_copy(std::int64_t id) const { return id; }
  virtual std::int64_t next_copy(std::int64_t /*id*/) const { return -1; }
  /// True if some sample has more than one index.
  virtual bool repeats() const { return false; }
  /// The sample of this index, given that of its first_copy().
  virtual SamplePtr copy_of(const SamplePtr& sample, std::int64_t /*id*/) const { return sample; }
  /// By which a planned loader decides whether there is something to plan.
  virtual Origin origin() const { return Origin::unknown; }
  /// True if a sample is the arrays of fields(), of fixed shapes, and nothing else: a copy of them is the sample.
  virtual bool plain() const { return false; }
  /// For samples that are the arrays of their fields, of whatever shapes, and nothing else: bytes that the largest of
  /// them takes in pack_sample(), the same on every rank. 0 if that is not known, or samples are more.
  virtual std::int64_t most_packed_bytes() const { return 0; }
  /// Bytes read from storage so far on this rank.
  virtual std::int64_t bytes_read() const { return 0; }
  /// Publications that describe the data or their format, for the run's cite.bib.
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium::train
