#include "plugins/kinetic/fields/cell_exchange.hpp"

#include <mpi.h>

#include <algorithm>

#include "core/base/counts.hpp"

namespace cambium::kinetic {

/// MPI tag, distinct from those of ghosts.
static constexpr int cell_tag = 90;

CellExchange::CellExchange(const Comm& comm, int cells, const CellsOf& has, const CellsOf& wants) : comm_(comm) {
  std::vector<int> owner(at(cells), 0), place(at(cells), 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    int next = 0;
    for (const int cell : has(rank)) {
      owner[at(cell)] = rank;
      place[at(cell)] = next++;
    }
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    Link link{rank, {}};
    for (const int cell : wants(rank))
      if (owner[at(cell)] == comm.rank()) link.cells.push_back(place[at(cell)]);
    if (!link.cells.empty()) to_.push_back(std::move(link));
  }
  std::vector<Link> from(at(comm.size()));
  for (const int cell : wants(comm.rank())) from[at(owner[at(cell)])].cells.push_back(static_cast<int>(wanted_++));
  for (int rank = 0; rank < comm.size(); ++rank)
    if (!from[at(rank)].cells.empty()) from_.push_back({rank, std::move(from[at(rank)].cells)});
}

std::vector<double> CellExchange::operator()(std::span<const double> own, int per_cell) const {
  const auto row = at(per_cell);
  std::vector<std::vector<double>> sent(to_.size()), received(from_.size());
  std::vector<MPI_Request> requests;
  for (std::size_t k = 0; k < from_.size(); ++k) {
    received[k].resize(from_[k].cells.size() * row);
    if (from_[k].rank != comm_.rank())
      MPI_Irecv(received[k].data(), static_cast<int>(received[k].size()), MPI_DOUBLE, from_[k].rank, cell_tag,
                comm_.handle(), &requests.emplace_back());
  }
  for (std::size_t k = 0; k < to_.size(); ++k) {
    sent[k].reserve(to_[k].cells.size() * row);
    for (const int cell : to_[k].cells) {
      const auto values = own.subspan(at(cell) * row, row);
      sent[k].insert(sent[k].end(), values.begin(), values.end());
    }
    if (to_[k].rank != comm_.rank())
      MPI_Isend(sent[k].data(), static_cast<int>(sent[k].size()), MPI_DOUBLE, to_[k].rank, cell_tag, comm_.handle(),
                &requests.emplace_back());
    else
      for (std::size_t j = 0; j < from_.size(); ++j)
        if (from_[j].rank == comm_.rank()) received[j] = sent[k];
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  std::vector<double> out(wanted_ * row);
  for (std::size_t k = 0; k < from_.size(); ++k)
    for (std::size_t c = 0; c < from_[k].cells.size(); ++c)
      std::copy_n(received[k].begin() + static_cast<std::ptrdiff_t>(c * row), row,
                  out.begin() + static_cast<std::ptrdiff_t>(at(from_[k].cells[c]) * row));
  return out;
}

}  // namespace cambium::kinetic
