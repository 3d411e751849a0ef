#include "plugins/submatrix/columns/block_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

int count_of(std::size_t size) {
  if (size > std::numeric_limits<int>::max())
    throw InternalError("block exchange: more than 2^31 entries for one rank");
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
    return std::span(values).subspan(where.first[rank], static_cast<std::size_t>(where.count[rank]));
  }
};

/// All-to-all exchange; returns what each rank sent. Only MPI itself makes copies: these are entire matrices, and the
/// ranks of a node share its memory.
template <class T>
Parts<T> all_to_all(Parts<T> send, const Comm& comm) {
  Parts<T> received(send.where.count.size());
  MPI_Alltoall(send.where.count.data(), 1, MPI_INT, received.where.count.data(), 1, MPI_INT, comm.handle());
  send.where.arrange();
  received.values.resize(received.where.arrange());
  MPI_Alltoallv(send.values.data(), send.where.count.data(), send.where.first.data(), type_of(T{}),
                received.values.data(), received.where.count.data(), received.where.first.data(), type_of(T{}),
                comm.handle());
  return received;
}

/// Request of a rank: the columns it wants of all ranks, and which blocks of them.
struct Request {
  const std::vector<int>& wanted;
  WantedRows rows;
  std::span<const double> least;  ///< of each wanted column; may be empty
};

/// A threshold inside a message of integers: the bits of the float below it.
int packed_threshold(double least) {
  const auto narrow = static_cast<float>(std::min(least, 1e30));
  return std::bit_cast<int>(least > 0.0 ? std::nextafter(narrow, 0.0F) : 0.0F);
}

bool among_wanted(WantedRows rows) {
  return rows == WantedRows::among_wanted || rows == WantedRows::upper_among_wanted;
}

/// For each rank: number of columns, their ids, their thresholds, then (when rows are to be among them) all ids that
/// are wanted.
Parts<int> requests_of(const Request& request, const ColumnRanges& ranges, const Comm& comm) {
  std::vector<std::vector<int>> ids(comm.size()), thresholds(ids.size());
  for (std::size_t k = 0; k < request.wanted.size(); ++k) {
    const auto owner = static_cast<std::size_t>(ranges.owner(request.wanted[k]));
    if (static_cast<int>(owner) == comm.rank()) continue;
    ids[owner].push_back(request.wanted[k]);
    thresholds[owner].push_back(packed_threshold(request.least.empty() ? 0.0 : request.least[k]));
  }
  Parts<int> out(ids.size());
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::size_t before = out.values.size();
    if (!ids[r].empty()) {
      out.values.push_back(static_cast<int>(ids[r].size()));
      out.values.insert(out.values.end(), ids[r].begin(), ids[r].end());
      out.values.insert(out.values.end(), thresholds[r].begin(), thresholds[r].end());
      if (among_wanted(request.rows)) out.values.insert(out.values.end(), request.wanted.begin(), request.wanted.end());
    }
    out.where.count[r] = static_cast<int>(out.values.size() - before);
  }
  return out;
}

/// Values sent to all ranks.
struct Parcels {
  Parts<int> index;      ///< per column: id, number of blocks, their rows
  Parts<double> values;  ///< blocks one after the other
  explicit Parcels(std::size_t ranks) : index(ranks), values(ranks) {}
};

/// Answers requests for the columns of one rank.
class Packer {
 public:
  Packer(const BlockColumns& own, const ColumnRanges& ranges, WantedRows rows)
      : own_(own), ranges_(ranges), rows_(rows), is_row_(static_cast<std::size_t>(own.layout().blocks()), 0) {}

  Parcels pack(const Parts<int>& requests) {
    const std::size_t ranks = requests.where.count.size();
    Parcels out(ranks);
    std::size_t all = 0;
    chosen_.clear();
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t before = all, index_before = out.index.values.size();
      choose(requests.of(r), static_cast<int>(r), out.index.values, all);
      out.index.where.count[r] = static_cast<int>(out.index.values.size() - index_before);
      out.values.where.count[r] = count_of(all - before);
    }
    out.values.values.reserve(all);
    for (const auto& [block, size] : chosen_) out.values.values.insert(out.values.values.end(), block, block + size);
    return out;
  }

 private:
  /// Notes the blocks that answer a request, writes their index and adds up their size.
  void choose(std::span<const int> request, int rank, std::vector<int>& index, std::size_t& size) {
    if (request.empty()) return;
    const auto columns = static_cast<std::size_t>(request.front());
    const auto ids = request.subspan(1, columns), thresholds = request.subspan(1 + columns, columns),
               allowed = request.subspan(1 + 2 * columns);
    if (rows_ == WantedRows::owned)
      std::fill(is_row_.begin() + ranges_.begin(rank), is_row_.begin() + ranges_.end(rank), char(1));
    for (int row : allowed) is_row_[row] = 1;
    for (std::size_t k = 0; k < columns; ++k) {
      const BlockColumn c = own_.column(ids[k]);
      const double least = std::bit_cast<float>(thresholds[k]);
      index.push_back(ids[k]);
      const std::size_t count = index.size();
      index.push_back(0);
      for (std::size_t e = 0; e < c.rows.size(); ++e) {
        const int row = c.rows[e];
        if (rows_ == WantedRows::upper_among_wanted && row > ids[k]) break;
        if (rows_ != WantedRows::all && !is_row_[row]) continue;
        if (c.norms[e] < least && row != ids[k]) continue;
        index.push_back(row);
        ++index[count];
        chosen_.emplace_back(c.block(e), own_.layout().size(row) * own_.layout().size(ids[k]));
        size += static_cast<std::size_t>(chosen_.back().second);
      }
    }
    if (rows_ == WantedRows::owned)
      std::fill(is_row_.begin() + ranges_.begin(rank), is_row_.begin() + ranges_.end(rank), char(0));
    for (int row : allowed) is_row_[row] = 0;
  }

  const BlockColumns& own_;
  const ColumnRanges& ranges_;
  WantedRows rows_;
  std::vector<char> is_row_;
  std::vector<std::pair<const double*, int>> chosen_;  ///< in the order in which they are sent
};

BlockColumns received(const BlockColumns& own, const ColumnRanges& ranges, const Request& request, const Comm& comm,
                      std::int64_t& bytes) {
  const auto asked = all_to_all(requests_of(request, ranges, comm), comm);
  Parcels parcels = Packer(own, ranges, request.rows).pack(asked);
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

ColumnSet fetch_columns(const BlockColumns& own, const ColumnRanges& ranges, const std::vector<int>& wanted,
                        WantedRows rows, const Comm& comm, std::int64_t& bytes, std::span<const double> least) {
  if (!least.empty() && least.size() != wanted.size())
    throw InternalError("fetch_columns: one threshold for each wanted column");
  if (comm.size() == 1) return {own, BlockColumns(own.shared_layout())};
  return {own, received(own, ranges, {wanted, rows, least}, comm, bytes)};
}

BlockColumns redistributed(const BlockColumns& own, const ColumnRanges& now, const ColumnRanges& then,
                           const Comm& comm) {
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

}  // namespace cambium::submatrix
