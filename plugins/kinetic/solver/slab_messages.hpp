#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/shared_memory.hpp"

namespace cambium::kinetic {

/// Exchange of face values between neighbours, one slab of velocity space after the other: begin(), then for every
/// slab, in order, send() when its faces are packed; wait() before they are needed, then finish(). That may be in the
/// pass that packs them or in a later one, twice (a repeated step) or never; neighbours do alike. begin() releases all
/// earlier faces.
///
/// Ranks of one node read each other's faces where they were packed, in shared memory, as soon as a counter shows that
/// a slab is ready: a slab has a few KiB, and starting and completing its messages took about as long as packing it.
/// Otherwise, and from a rank to itself, messages. Host memory.
class SlabMessages {
 public:
  explicit SlabMessages(const Comm& comm) : comm_(comm) {}
  ~SlabMessages();
  SlabMessages(const SlabMessages&) = delete;
  SlabMessages& operator=(const SlabMessages&) = delete;

  struct Part {
    std::int64_t first = 0, last = 0;  ///< bytes of a row
  };
  /// Rows of bytes, of which a slab takes the same part in each; a slab may have none.
  struct Rows {
    int count = 0;
    std::int64_t stride = 0;  ///< bytes
    std::vector<Part> parts;  ///< [slab]
    std::int64_t bytes() const { return count * stride; }
  };
  /// Messages to and from `rank`.
  struct Face {
    int rank, send_tag;
    Rows sent;
    int receive_tag;
    Rows received;
  };
  /// Collective, once. Without `share_memory` all faces are sent as messages.
  void connect(std::vector<Face> faces, bool share_memory = true);
  /// Addresses where a face is packed, and where that of the neighbour is read, by index in the list; aligned to cache
  /// lines.
  char* packed(std::size_t face) const { return packed_[face]; }
  const char* received(std::size_t face) const { return received_[face]; }

  void begin();
  void send(int slab);
  void wait(int slab);
  void finish();

 private:
  using Requests = std::vector<MPI_Request>;
  using Counter = std::atomic<std::int64_t>;
  bool share();
  void settle();
  void prepare(std::vector<Requests>& to, bool sends, const Face& face, char* data) const;
  Counter& counter(int rank, int which) const { return *reinterpret_cast<Counter*>(memory_->of(rank) + which * line); }

  static constexpr std::int64_t line = 64;     ///< bytes of a cache line
  enum { slabs_sent, passes_read, counters };  ///< of a rank, at the beginning of its memory

  const Comm& comm_;
  std::vector<Face> faces_;
  std::vector<char*> packed_;
  std::vector<const char*> received_;
  std::unique_ptr<SharedMemory> memory_;  ///< null if messages are used
  std::int64_t slabs_ = 0, pass_ = 0;
  std::vector<View<char*>> buffers_;
  std::vector<Requests> send_, receive_;  ///< [slab], persistent
};

}  // namespace cambium::kinetic
