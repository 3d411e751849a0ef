#include "core/numerics/block_exchange.hpp"

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace cambium {

namespace {

/// Counts and displacements of an all-to-all.
struct Layout {
  std::vector<int> count, first;
  explicit Layout(std::size_t ranks) : count(ranks, 0), first(ranks, 0) {}
  int arrange() {
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < count.size(); ++r) {
      first[r] = static_cast<int>(sum);
      sum += count[r];
    }
    if (sum > std::numeric_limits<int>::max()) throw InternalError("block exchange: more than 2^31 entries for one rank");
    return static_cast<int>(sum);
  }
};

MPI_Datatype type_of(const int&) { return MPI_INT; }
MPI_Datatype type_of(const double&) { return MPI_DOUBLE; }

/// What every rank sends to every other: `out[r]` goes to rank r; returns what came from each.
template <class T>
std::vector<std::vector<T>> all_to_all(const std::vector<std::vector<T>>& out, const Comm& comm) {
  const std::size_t ranks = out.size();
  Layout send(ranks), receive(ranks);
  for (std::size_t r = 0; r < ranks; ++r) send.count[r] = static_cast<int>(out[r].size());
  MPI_Alltoall(send.count.data(), 1, MPI_INT, receive.count.data(), 1, MPI_INT, comm.handle());
  std::vector<T> packed(static_cast<std::size_t>(send.arrange())), arrived(static_cast<std::size_t>(receive.arrange()));
  for (std::size_t r = 0; r < ranks; ++r) std::copy(out[r].begin(), out[r].end(), packed.begin() + send.first[r]);
  MPI_Alltoallv(packed.data(), send.count.data(), send.first.data(), type_of(T{}), arrived.data(), receive.count.data(),
                receive.first.data(), type_of(T{}), comm.handle());
  std::vector<std::vector<T>> in(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    in[r].assign(arrived.begin() + receive.first[r], arrived.begin() + receive.first[r] + receive.count[r]);
  return in;
}

/// A request: number of columns, their ids, then (when rows are restricted) all ids that may be rows.
std::vector<std::vector<int>> requests_of(const std::vector<int>& wanted, const ColumnRanges& ranges, WantedRows rows, const Comm& comm) {
  std::vector<std::vector<int>> ids(static_cast<std::size_t>(comm.size()));
  for (int column : wanted) {
    const int owner = ranges.owner(column);
    if (owner != comm.rank()) ids[static_cast<std::size_t>(owner)].push_back(column);
  }
  std::vector<std::vector<int>> out(ids.size());
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (ids[r].empty()) continue;
    out[r].push_back(static_cast<int>(ids[r].size()));
    out[r].insert(out[r].end(), ids[r].begin(), ids[r].end());
    if (rows != WantedRows::all) out[r].insert(out[r].end(), wanted.begin(), wanted.end());
  }
  return out;
}

struct Parcel {
  std::vector<int> index;      ///< per column: id, number of blocks, their rows
  std::vector<double> values;  ///< blocks one after the other
};

Parcel pack(const BlockColumns& own, const std::vector<int>& request, WantedRows rows, std::vector<char>& is_row) {
  Parcel out;
  if (request.empty()) return out;
  const auto columns = static_cast<std::size_t>(request.front());
  const std::vector<int> allowed(request.begin() + 1 + static_cast<std::ptrdiff_t>(columns), request.end());
  for (int row : allowed) is_row[static_cast<std::size_t>(row)] = 1;
  for (std::size_t k = 1; k <= columns; ++k) {
    const int id = request[k];
    const BlockColumn c = own.column(id);
    out.index.push_back(id);
    const std::size_t count_at = out.index.size();
    out.index.push_back(0);
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      const int row = c.rows[e];
      if (rows != WantedRows::all && !is_row[static_cast<std::size_t>(row)]) continue;
      if (rows == WantedRows::upper_among_wanted && row > id) break;
      out.index.push_back(row);
      ++out.index[count_at];
      const double* block = c.block(e);
      out.values.insert(out.values.end(), block, block + own.layout().size(row) * own.layout().size(id));
    }
  }
  for (int row : allowed) is_row[static_cast<std::size_t>(row)] = 0;
  return out;
}

void unpack(const std::vector<int>& index, const std::vector<double>& values, BlockColumns& out) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < index.size();) {
    const int id = index[k++], count = index[k++];
    out.start_column(id);
    for (int e = 0; e < count; ++e, ++k) {
      out.add_block(index[k], values.data() + at);
      at += static_cast<std::size_t>(out.layout().size(index[k]) * out.layout().size(id));
    }
  }
}

BlockColumns received(const BlockColumns& own, const ColumnRanges& ranges, const std::vector<int>& wanted, WantedRows rows,
                      const Comm& comm, std::int64_t& bytes) {
  const auto asked = all_to_all(requests_of(wanted, ranges, rows, comm), comm);
  std::vector<std::vector<int>> index(asked.size());
  std::vector<std::vector<double>> values(asked.size());
  std::vector<char> is_row(static_cast<std::size_t>(own.layout().blocks()), 0);
  for (std::size_t r = 0; r < asked.size(); ++r) {
    Parcel parcel = pack(own, asked[r], rows, is_row);
    index[r] = std::move(parcel.index);
    values[r] = std::move(parcel.values);
  }
  const auto index_in = all_to_all(index, comm);
  const auto values_in = all_to_all(values, comm);
  BlockColumns remote(own.shared_layout());
  for (std::size_t r = 0; r < asked.size(); ++r) {  // ranks own ascending ranges, so columns arrive ascending
    unpack(index_in[r], values_in[r], remote);
    bytes += static_cast<std::int64_t>(4 * index_in[r].size() + 8 * values_in[r].size());
  }
  remote.finish();
  return remote;
}

}  // namespace

BlockColumn ColumnSet::operator()(int column) const {
  int position = own_->find(column);
  if (position >= 0) return own_->at(position);
  position = remote_.find(column);
  if (position < 0) throw InternalError("block column " + std::to_string(column) + " was not fetched");
  return remote_.at(position);
}

ColumnSet fetch_columns(const BlockColumns& own, const ColumnRanges& ranges, const std::vector<int>& wanted, WantedRows rows,
                        const Comm& comm, std::int64_t& bytes) {
  if (comm.size() == 1) return {own, BlockColumns(own.shared_layout())};
  return {own, received(own, ranges, wanted, rows, comm, bytes)};
}

BlockColumns redistributed(const BlockColumns& own, const ColumnRanges& now, const ColumnRanges& then, const Comm& comm) {
  if (comm.size() == 1) return own;
  std::vector<int> wanted;
  for (int c = then.begin(comm.rank()); c < then.end(comm.rank()); ++c) wanted.push_back(c);
  std::int64_t bytes = 0;
  const ColumnSet set = fetch_columns(own, now, wanted, WantedRows::all, comm, bytes);
  BlockColumns out(own.shared_layout());
  for (int column : wanted) {
    out.start_column(column);
    const BlockColumn c = set(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_block(c.rows[e], c.block(e));
  }
  out.finish();
  return out;
}

}  // namespace cambium
