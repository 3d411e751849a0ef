#pragma once
#include <cstdint>
#include <vector>

namespace cambium::train {

/// Where the samples of all planned buffers are: a map from a sample to its rank and its place in that rank's heap. An
/// array over all samples (8 bytes each) or, if few of them are held, a hash table (up to 32 bytes per held sample).
class HolderTable {
 public:
  struct Entry {
    std::int32_t holder = -1;  ///< -1: nobody
    std::uint32_t place = 0;
  };
  HolderTable() = default;
  /// For ids of 0..samples-1, of which about `held` are in the table at the same time.
  HolderTable(std::int64_t samples, std::int64_t held);

  /// The entry of a sample; null if it is not in the table. Valid until the next insert() or erase().
  Entry* find(std::int64_t id);
  const Entry* find(std::int64_t id) const { return const_cast<HolderTable*>(this)->find(id); }
  /// For a sample that is not in the table.
  void insert(std::int64_t id, Entry entry);
  /// For a sample that is in the table.
  void erase(std::int64_t id);
  std::int64_t bytes() const;

 private:
  std::size_t home(std::int64_t id) const;
  std::size_t index_of(std::int64_t id) const;  ///< of the sample, or of the free slot where its search ends
  void grow();

  bool dense_ = true;
  std::size_t used_ = 0;           ///< slots of the hash table
  std::vector<std::int64_t> ids_;  ///< of its slots; -1: free
  std::vector<Entry> entries_;     ///< by sample, or by slot
};

}  // namespace cambium::train
