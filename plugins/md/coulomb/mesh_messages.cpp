#include "plugins/md/coulomb/mesh_messages.hpp"

namespace cambium::md {

RankBuffers exchange(RankBuffers send, const std::vector<std::int64_t>& received, const Comm& comm) {
  constexpr int tag = 61;
  RankBuffers out(send.size());
  std::vector<MPI_Request> requests;
  const auto own = static_cast<std::size_t>(comm.rank());
  for (std::size_t r = 0; r < out.size(); ++r) {
    out[r].resize(static_cast<std::size_t>(received[r]));
    if (r == own || out[r].empty()) continue;
    MPI_Irecv(out[r].data(), static_cast<int>(out[r].size()), MPI_DOUBLE, static_cast<int>(r), tag, comm.handle(),
              &requests.emplace_back());
  }
  for (std::size_t r = 0; r < send.size(); ++r) {
    if (r == own || send[r].empty()) continue;
    MPI_Isend(send[r].data(), static_cast<int>(send[r].size()), MPI_DOUBLE, static_cast<int>(r), tag, comm.handle(),
              &requests.emplace_back());
  }
  out[own].swap(send[own]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return out;
}

}  // namespace cambium::md
