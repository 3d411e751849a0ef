#pragma once
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::kinetic {

/// Face values of one slab of velocity space after the other, on their way between neighbours while a pass goes on: begin(),
/// then for every slab send() when its faces are packed and wait() before they are needed, then finish(). Host memory.
class SlabMessages {
 public:
  explicit SlabMessages(const Comm& comm) : comm_(comm) {}
  ~SlabMessages();
  SlabMessages(const SlabMessages&) = delete;
  SlabMessages& operator=(const SlabMessages&) = delete;

  /// Rows of bytes, of which a slab takes the same part in each.
  struct Rows {
    char* data = nullptr;
    int count = 0;
    std::int64_t stride = 0;  ///< bytes
  };
  struct Part {
    std::int64_t first = 0, last = 0;  ///< bytes of a row
  };
  /// Of every slab, what is sent to `rank` and what comes from it; a slab may have nothing for either.
  void add(int rank, int send_tag, const Rows& send, const std::vector<Part>& sent, int receive_tag, const Rows& receive,
           const std::vector<Part>& received);

  void begin();
  void send(int slab);
  void wait(int slab);
  void finish();

 private:
  using Requests = std::vector<MPI_Request>;
  void prepare(std::vector<Requests>& to, bool sends, int rank, int tag, const Rows& rows, const std::vector<Part>& parts) const;

  const Comm& comm_;
  std::vector<Requests> send_, receive_;  ///< [slab], persistent
};

}  // namespace cambium::kinetic
