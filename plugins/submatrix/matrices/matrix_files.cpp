#include "plugins/submatrix/matrices/matrix_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"
#include "plugins/submatrix/columns/block_exchange.hpp"
#include "plugins/submatrix/matrices/checks.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"
#include "plugins/submatrix/matrices/row_groups.hpp"

namespace cambium::submatrix {

namespace {

/// Block of each row of the matrix, and the row's index in the block.
struct RowBlocks {
  std::vector<int> sizes, block_of, place;
  std::vector<std::vector<BlockAtom>> atoms;
};

/// Integers in a text, separated by blanks or line ends.
std::vector<int> sizes_in(const std::string& path) {
  io::TextLines lines(path);
  std::vector<int> out;
  while (lines.next())
    for (const auto word : io::split(lines.line())) {
      if (word[0] == '#') break;
      const auto size = lines.integer(word, "the number of functions of an atom");
      if (size < 1 || size > 1'000'000)
        lines.fail(fmt::format("an atom of {} functions; give 1 or more for each", size));
      out.push_back(static_cast<int>(size));
    }
  return out;
}

/// Functions of every atom.
std::vector<int> atoms_of(const MatrixFiles& files, int rows) {
  if (!files.atom_sizes.empty()) {
    auto out = sizes_in(files.atom_sizes);
    if (const auto sum = std::accumulate(out.begin(), out.end(), std::int64_t{0}); sum != rows)
      throw InputError(
          fmt::format("{} has {} rows, but the {} atoms of {} have {} functions; give the functions of every "
                      "atom, in the order of the rows",
                      files.hamiltonian, rows, out.size(), files.atom_sizes, sum));
    return out;
  }
  const int functions = std::accumulate(files.molecule.begin(), files.molecule.end(), 0);
  if (functions < 1 || rows % functions != 0)
    throw InputError(
        fmt::format("{} has {} rows, which are no whole number of molecules of {} functions; 'molecule' holds the "
                    "functions of each atom of one molecule",
                    files.hamiltonian, rows, functions));
  std::vector<int> out;
  for (int m = 0; m < rows / functions; ++m) out.insert(out.end(), files.molecule.begin(), files.molecule.end());
  return out;
}

/// Blocks are numbered by their first atoms.
RowBlocks blocks_of(const std::vector<int>& atom_functions, const std::vector<int>& group_of_atom) {
  RowBlocks out;
  std::vector<int> block_of_group(
      static_cast<std::size_t>(*std::max_element(group_of_atom.begin(), group_of_atom.end())) + 1, -1);
  for (std::size_t a = 0; a < atom_functions.size(); ++a) {
    int& block = block_of_group[static_cast<std::size_t>(group_of_atom[a])];
    if (block < 0) {
      block = static_cast<int>(out.sizes.size());
      out.sizes.push_back(0);
      out.atoms.emplace_back();
    }
    const auto b = static_cast<std::size_t>(block);
    for (int f = 0; f < atom_functions[a]; ++f) {
      out.block_of.push_back(block);
      out.place.push_back(out.sizes[b]++);
    }
    out.atoms[b].push_back({0, atom_functions[a], static_cast<int>(a)});
  }
  return out;
}

RowBlocks partitioned(const MatrixFiles& files, const StoredElements& hamiltonian, const FileRanks& ranks) {
  std::vector<int> atoms, group;
  ranks.agree([&] { atoms = atoms_of(files, hamiltonian.rows); });
  if (files.blocks == BlockKind::metis) {
    std::vector<int> atom_of;
    for (std::size_t a = 0; a < atoms.size(); ++a)
      atom_of.insert(atom_of.end(), static_cast<std::size_t>(atoms[a]), static_cast<int>(a));
    group = metis_groups(hamiltonian, atoms, atom_of, files.block_functions, ranks);
  } else {
    const int whole =
        files.blocks == BlockKind::molecule && files.atom_sizes.empty() ? static_cast<int>(files.molecule.size()) : 1;
    for (std::size_t a = 0; a < atoms.size(); ++a) group.push_back(static_cast<int>(a) / whole);
  }
  return blocks_of(atoms, group);
}

/// Every element goes to the ranks that own its row and its column. Returns the most bytes of elements that this rank
/// held at once.
std::int64_t exchange(std::vector<LatticeEntry>& entries, const RowBlocks& rows, const ColumnRanges& ranges,
                      const FileRanks& ranks) {
  if (ranks.size() == 1) return std::ssize(entries) * static_cast<std::int64_t>(sizeof(LatticeEntry));
  const auto n = static_cast<std::size_t>(ranks.size());
  std::vector<int> owner(rows.sizes.size());
  for (std::size_t b = 0; b < owner.size(); ++b) owner[b] = ranges.owner(static_cast<int>(b));
  const auto targets = [&](const LatticeEntry& entry) {
    return std::pair(owner[static_cast<std::size_t>(rows.block_of[static_cast<std::size_t>(entry.row)])],
                     owner[static_cast<std::size_t>(rows.block_of[static_cast<std::size_t>(entry.column)])]);
  };
  std::vector<int> count(n, 0), start(n, 0), arriving(n), from(n, 0);
  for (const auto& entry : entries) {
    const auto [a, b] = targets(entry);
    ++count[static_cast<std::size_t>(a)];
    if (b != a) ++count[static_cast<std::size_t>(b)];
  }
  for (std::size_t r = 1; r < n; ++r) start[r] = start[r - 1] + count[r - 1];
  std::vector<LatticeEntry> sent(static_cast<std::size_t>(start.back() + count.back()));
  auto next = start;
  for (const auto& entry : entries) {
    const auto [a, b] = targets(entry);
    sent[static_cast<std::size_t>(next[static_cast<std::size_t>(a)]++)] = entry;
    if (b != a) sent[static_cast<std::size_t>(next[static_cast<std::size_t>(b)]++)] = entry;
  }
  const std::size_t own = std::exchange(entries, {}).size();
  MPI_Alltoall(count.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, ranks.comm()->handle());
  for (std::size_t r = 1; r < n; ++r) from[r] = from[r - 1] + arriving[r - 1];
  entries.resize(static_cast<std::size_t>(from.back() + arriving.back()));
  MPI_Datatype element;
  MPI_Type_contiguous(static_cast<int>(sizeof(LatticeEntry)), MPI_BYTE, &element);
  MPI_Type_commit(&element);
  MPI_Alltoallv(sent.data(), count.data(), start.data(), element, entries.data(), arriving.data(), from.data(), element,
                ranks.comm()->handle());
  MPI_Type_free(&element);
  return static_cast<std::int64_t>((std::max(own, entries.size()) + sent.size()) * sizeof(LatticeEntry));
}

/// Own block columns. `real`: 1, or 2 for the real form of a complex matrix, in which element (i, j) is the block
/// [Re, -Im; Im, Re].
BlockColumns columns_from(std::vector<LatticeEntry> entries, const RowBlocks& rows,
                          const std::shared_ptr<const BlockLayout>& layout, const ColumnRanges& ranges, int rank,
                          int real) {
  const auto block = [&rows](int row) { return rows.block_of[static_cast<std::size_t>(row)]; };
  std::erase_if(entries, [&](const LatticeEntry& e) { return ranges.owner(block(e.column)) != rank; });
  std::sort(entries.begin(), entries.end(), [&](const LatticeEntry& a, const LatticeEntry& b) {
    return std::tuple(block(a.column), block(a.row)) < std::tuple(block(b.column), block(b.row));
  });
  BlockColumns out(layout);
  std::size_t k = 0;
  for (int column = ranges.begin(rank); column < ranges.end(rank); ++column) {
    out.start_column(column);
    const int width = layout->size(column);
    while (k < entries.size() && block(entries[k].column) == column) {
      const int row = block(entries[k].row);
      double* values = out.add_block(row);
      for (; k < entries.size() && block(entries[k].column) == column && block(entries[k].row) == row; ++k) {
        const LatticeEntry& e = entries[k];
        double* at = values + real * (rows.place[static_cast<std::size_t>(e.row)] * width +
                                      rows.place[static_cast<std::size_t>(e.column)]);
        at[0] += e.value;
        if (real == 1) continue;
        at[1] -= e.imaginary;
        at[width] += e.imaginary;
        at[width + 1] += e.value;
      }
    }
  }
  out.finish();
  return out;
}

BlockColumns identity(const std::shared_ptr<const BlockLayout>& layout, const ColumnRanges& ranges, int rank) {
  BlockColumns out(layout);
  for (int column = ranges.begin(rank); column < ranges.end(rank); ++column) {
    out.start_column(column);
    double* block = out.add_block(column);
    for (int i = 0; i < layout->size(column); ++i) block[i * layout->size(column) + i] = 1.0;
  }
  out.finish();
  return out;
}

/// Cost of every column as the overlap predicts it: the square of how many blocks it has, times its functions.
std::vector<double> costs(const BlockColumns& overlap, const FileRanks& ranks) {
  std::vector<double> out(static_cast<std::size_t>(overlap.layout().blocks()), 0.0);
  for (int column : overlap.columns()) {
    const auto terms = static_cast<double>(overlap.column(column).rows.size());
    out[static_cast<std::size_t>(column)] = terms * terms * overlap.layout().size(column);
  }
  ranks.sum(out);
  return out;
}

void require_same_rows(const StoredElements& a, const StoredElements& b) {
  if (a.rows != b.rows)
    throw InputError(
        fmt::format("{} has {} rows, {} has {}; they must be of the same basis", a.path, a.rows, b.path, b.rows));
}

/// The files' elements, each rank its part.
struct FileElements {
  StoredElements hamiltonian;
  std::optional<StoredElements> overlap, down;
  bool complex = false;

  FileElements(const MatrixFiles& files, const FileRanks& ranks)
      : hamiltonian(read_stored_elements(files.hamiltonian, ranks)), complex(hamiltonian.complex) {
    const auto other = [&](const std::string& path) {
      StoredElements out = read_stored_elements(path, ranks);
      require_same_rows(hamiltonian, out);
      complex |= out.complex;
      return out;
    };
    if (!files.overlap.empty()) overlap = other(files.overlap);
    if (!files.hamiltonian_down.empty()) down = other(files.hamiltonian_down);
    if (down && complex)
      throw InputError(
          "hamiltonian_down is for real matrices; give complex ones of two spins one after the other, in two stages");
  }
};

/// Elements of one file at their owners, checked.
class Owners {
 public:
  Owners(RowBlocks rows, bool complex, const FileRanks& ranks)
      : rows_(std::move(rows)), real_(complex ? 2 : 1), ranks_(ranks) {
    std::vector<int> sizes;
    std::vector<double> functions;
    for (int size : rows_.sizes) {
      sizes.push_back(real_ * size);
      functions.push_back(size);
    }
    layout = std::make_shared<const BlockLayout>(std::move(sizes));
    ranges = ColumnRanges::balanced(functions, ranks.size());
  }
  BlockColumns take(StoredElements stored, double factor) {
    most_bytes = std::max(most_bytes, exchange(stored.entries, rows_, ranges, ranks_));
    ranks_.agree([&] {
      complete(stored);
      for (auto& entry : stored.entries) entry.value *= factor, entry.imaginary *= factor;
      check_entries(stored.path, stored.entries, 1);
    });
    return columns_from(std::move(stored.entries), rows_, layout, ranges, ranks_.rank(), real_);
  }
  const RowBlocks& rows() const { return rows_; }

  std::shared_ptr<const BlockLayout> layout;
  ColumnRanges ranges;
  std::int64_t most_bytes = 0;

 private:
  RowBlocks rows_;
  int real_;
  const FileRanks& ranks_;
};

}  // namespace

MatrixSystem read_matrix_files(const MatrixFiles& files, const FileRanks& ranks) {
  FileElements read(files, ranks);
  Owners owners(partitioned(files, read.hamiltonian, ranks), read.complex, ranks);
  MatrixSystem out{
      owners.layout, owners.ranges, BlockColumns(owners.layout), BlockColumns(owners.layout), 0, 0.0, {}, {}, {}, {}};
  for (const auto* stored :
       {&read.hamiltonian, read.overlap ? &*read.overlap : nullptr, read.down ? &*read.down : nullptr})
    if (stored) out.notes.insert(out.notes.end(), stored->notes.begin(), stored->notes.end());
  out.electrons = read.hamiltonian.electrons;
  out.copies = read.complex ? 2 : 1;
  out.complex = read.complex;
  out.hamiltonian = owners.take(std::move(read.hamiltonian), files.to_hartree);
  out.overlap =
      read.overlap ? owners.take(std::move(*read.overlap), 1.0) : identity(owners.layout, owners.ranges, ranks.rank());
  if (read.down) out.hamiltonian_down = owners.take(std::move(*read.down), files.to_hartree);
  if (ranks.size() > 1) {
    const auto now = std::exchange(out.ranges, ColumnRanges::balanced(costs(out.overlap, ranks), ranks.size()));
    for (BlockColumns* matrix :
         {&out.hamiltonian, &out.overlap, out.hamiltonian_down ? &*out.hamiltonian_down : nullptr})
      if (matrix) *matrix = redistributed(*matrix, now, out.ranges, *ranks.comm());
  }
  out.block_atoms = owners.rows().atoms;
  for (const auto& block : out.block_atoms) out.atoms += std::ssize(block);
  out.reading_bytes = owners.most_bytes;
  return out;
}

}  // namespace cambium::submatrix
