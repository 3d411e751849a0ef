#include "core/train/data/node_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "core/base/error.hpp"
#include "core/train/data/packed_sample.hpp"

namespace cambium::train {

constexpr std::int64_t line = 64;  // bytes of a cache line

/// Counters of a rank, and the reason why it stopped.
struct NodeExchange::Head {
  static constexpr std::size_t most_text = 1000;
  std::atomic<std::int64_t> given = 0;  ///< rounds whose page is complete
  std::atomic<std::int64_t> taken = 0;  ///< rounds whose samples this rank has taken from all others
  std::atomic<bool> failed = false;
  char text[most_text] = {};
};

/// One sample of a page; its values follow the table of entries. A page begins with the number of entries.
struct NodeExchange::Entry {
  std::int64_t key, id;
};

static std::int64_t rounded(std::int64_t bytes) { return (bytes + line - 1) / line * line; }

static std::int64_t field_bytes(const FieldInfo& field) {
  std::int64_t n = size_of(field.dtype);
  for (const auto extent : field.shape) n *= extent;
  return n;
}

static std::int64_t bytes_of_sample(const std::vector<FieldInfo>& fields, std::int64_t packed) {
  if (packed > 0) return rounded(packed);
  std::int64_t bytes = 0;
  for (const auto& field : fields) bytes += rounded(field_bytes(field));
  return bytes;
}

static std::int64_t bytes_of_page(std::int64_t samples, std::int64_t sample_bytes) {
  return line + rounded(samples * 16) + samples * sample_bytes;
}

std::int64_t NodeExchange::bytes_of(const std::vector<FieldInfo>& fields, std::int64_t samples, std::int64_t packed) {
  return rounded(sizeof(Head)) + 2 * bytes_of_page(samples, bytes_of_sample(fields, packed));
}

std::unique_ptr<NodeExchange> NodeExchange::make(const Comm& node, std::vector<FieldInfo> fields, std::int64_t samples,
                                                 std::int64_t packed) {
  auto memory = SharedMemory::make(node, bytes_of(fields, samples, packed));
  if (!memory) return nullptr;
  std::unique_ptr<NodeExchange> out(new NodeExchange(node, std::move(fields), samples, packed, std::move(memory)));
  node.barrier();  // all heads exist before any is read
  return out;
}

NodeExchange::NodeExchange(const Comm& node, std::vector<FieldInfo> fields, std::int64_t samples, std::int64_t packed,
                           std::unique_ptr<SharedMemory> memory)
    : rank_(node.rank()), ranks_(node.size()), fields_(std::move(fields)), packed_(packed > 0), samples_(samples),
      sample_bytes_(bytes_of_sample(fields_, packed)), bytes_(bytes_of(fields_, samples, packed)),
      memory_(std::move(memory)) {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(Entry) == 16);
  new (memory_->of(rank_)) Head;
}

NodeExchange::Head& NodeExchange::head(int rank) const { return *reinterpret_cast<Head*>(memory_->of(rank)); }

std::byte* NodeExchange::page(int rank) const {
  return memory_->of(rank) + rounded(sizeof(Head)) + round_ % 2 * bytes_of_page(samples_, sample_bytes_);
}

/// Until a rank has completed so many rounds. Polls seldom: another rank may be reading from a disk.
void NodeExchange::wait(int rank, std::int64_t rounds, bool taken, const std::function<bool()>& stopped) const {
  const Head& other = head(rank);
  const auto& counter = taken ? other.taken : other.given;
  constexpr int patience = 1000;
  for (int turn = 0; counter.load(std::memory_order_acquire) < rounds; ++turn) {
    if (stopped()) throw InternalError("an exchange of samples was stopped");
    // A rank counts its rounds before it fails, so that these are complete.
    if (other.failed.load(std::memory_order_acquire) && counter.load(std::memory_order_acquire) < rounds)
      throw InputError(other.text);
    if (turn < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void NodeExchange::lend(const Loan* first, std::int64_t count) {
  std::byte* const begin = page(rank_);
  std::memcpy(begin, &count, sizeof count);
  std::byte* at = begin + line + rounded(samples_ * 16);
  for (std::int64_t k = 0; k < count; ++k) {
    const Entry entry{first[k].key, first[k].sample->id};
    std::memcpy(begin + line + k * 16, &entry, sizeof entry);
    write(*first[k].sample, at);
    at += sample_bytes_;
  }
}

void NodeExchange::write(const Sample& sample, std::byte* at) const {
  if (packed_) return pack_sample(sample, at, sample_bytes_);
  for (const auto& field : fields_) {
    std::memcpy(at, sample.fields.at(field.name).data, static_cast<std::size_t>(field_bytes(field)));
    at += rounded(field_bytes(field));
  }
}

SamplePtr NodeExchange::sample_from(const Entry& entry, const std::byte* values) const {
  if (packed_) return unpack_sample(values);
  auto sample = std::make_shared<Sample>();
  sample->id = entry.id;
  sample->bytes = sample_bytes_;
  const auto size = static_cast<std::size_t>(sample_bytes_);
  const std::shared_ptr<std::byte> memory(static_cast<std::byte*>(::operator new (size, std::align_val_t{line})),
                                          [](std::byte* p) { ::operator delete (p, std::align_val_t{line}); });
  std::memcpy(memory.get(), values, size);
  std::byte* at = memory.get();
  for (const auto& field : fields_) {
    TensorRef t;
    t.data = at;
    t.dtype = field.dtype;
    for (const auto extent : field.shape) t.shape[t.rank++] = extent;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    sample->fields.emplace(field.name, t);
    at += rounded(field_bytes(field));
  }
  sample->storage = memory;
  return sample;
}

/// Null if the page of this round does not have it.
SamplePtr NodeExchange::take(int rank, std::int64_t key) const {
  const std::byte* const begin = page(rank);
  std::int64_t count = 0;
  std::memcpy(&count, begin, sizeof count);
  const auto* const entries = reinterpret_cast<const Entry*>(begin + line);
  const auto* const found =
      std::lower_bound(entries, entries + count, key, [](const Entry& e, std::int64_t k) { return e.key < k; });
  if (found == entries + count || found->key != key) return nullptr;
  return sample_from(*found, begin + line + rounded(samples_ * 16) + (found - entries) * sample_bytes_);
}

std::vector<SamplePtr> NodeExchange::exchange(const std::vector<Loan>& lent, const std::vector<Wanted>& wanted,
                                              std::int64_t most, const std::function<bool()>& stopped) {
  std::vector<SamplePtr> out(wanted.size());
  for (std::int64_t first = 0; first < most; first += samples_, ++round_) {
    // The page was used two rounds ago.
    for (int rank = 0; rank < ranks_; ++rank) wait(rank, round_ - 1, true, stopped);
    const std::int64_t begin = std::min(first, std::ssize(lent));
    lend(lent.data() + begin, std::min(samples_, std::ssize(lent) - begin));
    head(rank_).given.store(round_ + 1, std::memory_order_release);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (out[k]) continue;
      wait(wanted[k].from, round_ + 1, false, stopped);
      out[k] = take(wanted[k].from, wanted[k].key);
    }
    head(rank_).taken.store(round_ + 1, std::memory_order_release);
  }
  for (const auto& sample : out)
    if (!sample) throw InternalError("a sample of another rank's buffer was not lent");
  return out;
}

void NodeExchange::fail(const std::string& text) {
  Head& own = head(rank_);
  const auto size = std::min(text.size(), Head::most_text - 1);
  std::memcpy(own.text, text.data(), size);
  own.text[size] = 0;
  own.failed.store(true, std::memory_order_release);
}

}  // namespace cambium::train
