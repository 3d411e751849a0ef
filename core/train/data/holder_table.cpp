#include "core/train/data/holder_table.hpp"

#include <algorithm>

namespace cambium::train {

namespace {
constexpr std::int64_t slots_per_sample = 3;  ///< above this ratio of samples to held ones the hash table is smaller
constexpr std::size_t first_slots = 64;
}  // namespace

HolderTable::HolderTable(std::int64_t samples, std::int64_t held) : dense_(samples / slots_per_sample <= held) {
  entries_.resize(dense_ ? static_cast<std::size_t>(samples) : first_slots);
  if (!dense_) ids_.assign(first_slots, -1);
}

std::size_t HolderTable::home(std::int64_t id) const {
  // The finaliser of SplitMix64, then the upper half of the product with the number of slots.
  auto x = static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x = (x ^ (x >> 31)) >> 32;
  return static_cast<std::size_t>((x * ids_.size()) >> 32);
}

std::size_t HolderTable::index_of(std::int64_t id) const {
  std::size_t k = home(id);
  while (ids_[k] >= 0 && ids_[k] != id) k = k + 1 == ids_.size() ? 0 : k + 1;
  return k;
}

HolderTable::Entry* HolderTable::find(std::int64_t id) {
  if (dense_) return entries_[id].holder >= 0 ? &entries_[id] : nullptr;
  const std::size_t k = index_of(id);
  return ids_[k] == id ? &entries_[k] : nullptr;
}

void HolderTable::insert(std::int64_t id, Entry entry) {
  if (dense_) {
    entries_[id] = entry;
    return;
  }
  if (4 * (used_ + 1) > 3 * ids_.size()) grow();
  const std::size_t k = index_of(id);
  ids_[k] = id;
  entries_[k] = entry;
  ++used_;
}

/// Slots after a freed one move back, so that searches need no marks of deleted samples.
void HolderTable::erase(std::int64_t id) {
  if (dense_) {
    entries_[id].holder = -1;
    return;
  }
  const std::size_t n = ids_.size();
  std::size_t hole = index_of(id);
  for (std::size_t k = (hole + 1) % n; ids_[k] >= 0; k = (k + 1) % n) {
    if ((k + n - home(ids_[k])) % n < (k + n - hole) % n) continue;  // its home lies after the hole
    ids_[hole] = ids_[k];
    entries_[hole] = entries_[k];
    hole = k;
  }
  ids_[hole] = -1;
  --used_;
}

void HolderTable::grow() {
  const std::size_t slots = ids_.size() + ids_.size() / 2;
  std::vector<std::int64_t> ids(slots, -1);
  std::vector<Entry> entries(slots);
  ids.swap(ids_);
  entries.swap(entries_);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (ids[k] < 0) continue;
    const std::size_t to = index_of(ids[k]);
    ids_[to] = ids[k];
    entries_[to] = entries[k];
  }
}

std::int64_t HolderTable::bytes() const {
  return static_cast<std::int64_t>(ids_.capacity() * sizeof(std::int64_t) + entries_.capacity() * sizeof(Entry));
}

}  // namespace cambium::train
