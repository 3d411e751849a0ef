#include "apps/cambium/profile/gathered_text.hpp"

#include <algorithm>

namespace cambium {

std::vector<std::string> gathered_text(const Comm& comm, const std::string& text) {
  constexpr int tag = 21;
  constexpr std::int64_t piece = std::int64_t{1} << 30;
  const auto sizes = comm.all_gather(static_cast<std::int64_t>(text.size()));
  const auto pieces = [&](char* data, std::int64_t size, auto move) {
    for (std::int64_t at = 0; at < size; at += piece) move(data + at, static_cast<int>(std::min(piece, size - at)));
  };
  if (!comm.root()) {
    pieces(const_cast<char*>(text.data()), sizes[comm.rank()],
           [&](char* data, int count) { MPI_Send(data, count, MPI_CHAR, 0, tag, comm.handle()); });
    return {};
  }
  std::vector<std::string> all{text};
  for (int rank = 1; rank < comm.size(); ++rank) {
    const std::int64_t size = sizes[rank];
    std::string& found = all.emplace_back(static_cast<std::size_t>(size), '\0');
    pieces(found.data(), size, [&](char* data, int count) {
      MPI_Recv(data, count, MPI_CHAR, rank, tag, comm.handle(), MPI_STATUS_IGNORE);
    });
  }
  return all;
}

}  // namespace cambium
