#include "core/numerics/block_exchange.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "core/base/error.hpp"

namespace cambium {

namespace {

int count_of(std::size_t size) {
  if (size > std::numeric_limits<int>::max()) throw InternalError("block exchange: more than 2^31 entries for one rank");
  return static_cast<int>(size);
}

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
    return count_of(static_cast<std::size_t>(sum));
  }
};

MPI_Datatype type_of(const int&) { return MPI_INT; }
MPI_Datatype type_of(const double&) { return MPI_DOUBLE; }

/// Parts for (or from) every rank, one after the other.
template <class T>
struct Parts {
  std::vector<T> values;
  Layout where;
  explicit Parts(std::size_t ranks) : where(ranks) {}
  std::span<const T> of(std::size_t rank) const {
    return std::span(values).subspan(static_cast<std::size_t>(where.first[rank]), static_cast<std::size_t>(where.count[rank]));
  }
};

/// What every rank sends to every other; returns what came from each. Nothing is copied on the way but by MPI itself: these are
/// whole matrices, and memory is what ranks of one machine share.
template <class T>
Parts<T> all_to_all(Parts<T> send, const Comm& comm) {
  Parts<T> received(send.where.count.size());
  MPI_Alltoall(send.where.count.data(), 1, MPI_INT, received.where.count.data(), 1, MPI_INT, comm.handle());
  send.where.arrange();
  received.values.resize(static_cast<std::size_t>(received.where.arrange()));
  MPI_Alltoallv(send.values.data(), send.where.count.data(), send.where.first.data(), type_of(T{}), received.values.data(),
                received.where.count.data(), received.where.first.data(), type_of(T{}), comm.handle());
  return received;
}

/// A request: number of columns, their ids, then (when rows are restricted) all ids that may be rows.
Parts<int> requests_of(const std::vector<int>& wanted, const ColumnRanges& ranges, WantedRows rows, const Comm& comm) {
  std::vector<std::vector<int>> ids(static_cast<std::size_t>(comm.size()));
  for (int column : wanted) {
    const int owner = ranges.owner(column);
    if (owner != comm.rank()) ids[static_cast<std::size_t>(owner)].push_back(column);
  }
  Parts<int> out(ids.size());
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::size_t before = out.values.size();
    if (!ids[r].empty()) {
      out.values.push_back(static_cast<int>(ids[r].size()));
      out.values.insert(out.values.end(), ids[r].begin(), ids[r].end());
      if (rows != WantedRows::all) out.values.insert(out.values.end(), wanted.begin(), wanted.end());
    }
    out.where.count[r] = static_cast<int>(out.values.size() - before);
  }
  return out;
}

/// What goes to all ranks.
struct Parcels {
  Parts<int> index;      ///< per column: id, number of blocks, their rows
  Parts<double> values;  ///< blocks one after the other
  explicit Parcels(std::size_t ranks) : index(ranks), values(ranks) {}
};

/// Calls `take(id, entries)` for every column of a request, with the entries of the wanted rows.
template <class Take>
void each_column(const BlockColumns& own, std::span<const int> request, WantedRows rows, std::vector<char>& is_row, Take take) {
  if (request.empty()) return;
  const auto columns = static_cast<std::size_t>(request.front());
  const auto allowed = request.subspan(1 + columns);
  for (int row : allowed) is_row[static_cast<std::size_t>(row)] = 1;
  std::vector<std::size_t> entries;
  for (const int id : request.subspan(1, columns)) {
    const BlockColumn c = own.column(id);
    entries.clear();
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      if (rows == WantedRows::upper_among_wanted && c.rows[e] > id) break;
      if (rows == WantedRows::all || is_row[static_cast<std::size_t>(c.rows[e])]) entries.push_back(e);
    }
    take(id, c, entries);
  }
  for (int row : allowed) is_row[static_cast<std::size_t>(row)] = 0;
}

Parcels pack(const BlockColumns& own, const Parts<int>& requests, WantedRows rows) {
  const std::size_t ranks = requests.where.count.size();
  const auto& layout = own.layout();
  std::vector<char> is_row(static_cast<std::size_t>(layout.blocks()), 0);
  Parcels out(ranks);
  std::size_t all = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t size = 0;
    const std::size_t before = out.index.values.size();
    each_column(own, requests.of(r), rows, is_row, [&](int id, const BlockColumn& c, const std::vector<std::size_t>& entries) {
      out.index.values.push_back(id);
      out.index.values.push_back(static_cast<int>(entries.size()));
      for (const auto e : entries) {
        out.index.values.push_back(c.rows[e]);
        size += static_cast<std::size_t>(layout.size(c.rows[e]) * layout.size(id));
      }
    });
    out.index.where.count[r] = static_cast<int>(out.index.values.size() - before);
    out.values.where.count[r] = count_of(size);
    all += size;
  }
  out.values.values.reserve(all);
  for (std::size_t r = 0; r < ranks; ++r)
    each_column(own, requests.of(r), rows, is_row, [&](int id, const BlockColumn& c, const std::vector<std::size_t>& entries) {
      for (const auto e : entries) {
        const double* block = c.block(e);
        out.values.values.insert(out.values.values.end(), block, block + layout.size(c.rows[e]) * layout.size(id));
      }
    });
  return out;
}

BlockColumns received(const BlockColumns& own, const ColumnRanges& ranges, const std::vector<int>& wanted, WantedRows rows,
                      const Comm& comm, std::int64_t& bytes) {
  const auto asked = all_to_all(requests_of(wanted, ranges, rows, comm), comm);
  Parcels parcels = pack(own, asked, rows);
  const auto index = all_to_all(std::move(parcels.index), comm);
  auto values = all_to_all(std::move(parcels.values), comm);
  bytes += static_cast<std::int64_t>(4 * index.values.size() + 8 * values.values.size());
  // Ranks own ascending ranges, so columns arrive ascending.
  return BlockColumns::from_parts(own.shared_layout(), index.values, std::move(values.values));
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
