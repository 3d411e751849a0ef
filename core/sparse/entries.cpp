#include "core/sparse/entries.hpp"

#include <algorithm>

namespace cambium::sparse {

std::vector<Entry> sent_to_owners(const Csr<double>& own, std::int64_t first_row, const OwnerOf& owner_of,
                                  const Comm& comm) {
  std::vector<Entry> entries;
  entries.reserve(own.column.size());
  for (std::int64_t i = 0; i < own.rows; ++i) {
    const auto columns = own.columns_of(i);
    const auto values = own.values_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e)
      entries.push_back({static_cast<std::int32_t>(first_row + i), columns[e], values[e]});
  }
  return sent_to_owners(entries, owner_of, comm);
}

std::vector<Entry> sent_to_owners(std::span<const Entry> own, const OwnerOf& owner_of, const Comm& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<Entry>> to(ranks);
  for (const Entry& e : own) to[owner_of(e.row, e.column)].push_back(e);
  std::vector<int> sends(ranks), receives(ranks), sends_at(ranks), receives_at(ranks);
  std::vector<Entry> sent;
  for (std::size_t r = 0; r < ranks; ++r) {
    sends_at[r] = static_cast<int>(sent.size());
    sends[r] = static_cast<int>(to[r].size());
    sent.insert(sent.end(), to[r].begin(), to[r].end());
    std::vector<Entry>().swap(to[r]);
  }
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, comm.handle());
  int all = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    receives_at[r] = all;
    all += receives[r];
  }
  std::vector<Entry> received(all);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Entry), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(sent.data(), sends.data(), sends_at.data(), type, received.data(), receives.data(), receives_at.data(),
                type, comm.handle());
  MPI_Type_free(&type);
  return received;
}

int range_of(std::span<const std::int64_t> first, std::int64_t row) {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
}

Csr<double> block_of(std::span<const Entry> entries, Range rows, Range columns) {
  std::vector<Entry> inside;
  for (const Entry& e : entries)
    if (rows.holds(e.row) && columns.holds(e.column))
      inside.push_back({static_cast<std::int32_t>(e.row - rows.begin),
                        static_cast<std::int32_t>(e.column - columns.begin), e.value});
  return csr_from_entries(rows.size(), columns.size(), inside).matrix;
}

Csr<double> transposed_rows(const Csr<double>& own, std::span<const std::int64_t> first, const Comm& comm) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  auto entries = sent_to_owners(
      own, first[rank], [&](std::int64_t, std::int64_t column) { return range_of(first, column); }, comm);
  for (Entry& e : entries) std::swap(e.row, e.column);
  return block_of(entries, {first[rank], first[rank + 1]}, {0, first.back()});
}

}  // namespace cambium::sparse
