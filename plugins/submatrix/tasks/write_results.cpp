#include <fmt/format.h>

#include <filesystem>

#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

namespace {

/// All ranks' values in rank order, on rank 0.
template <class T>
std::vector<T> gathered(const std::vector<T>& mine, const Comm& comm) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  std::vector<int> count(comm.size()), first(count.size(), 0);
  const int own = static_cast<int>(mine.size());
  MPI_Gather(&own, 1, MPI_INT, count.data(), 1, MPI_INT, 0, comm.handle());
  for (std::size_t r = 1; r < count.size(); ++r) first[r] = first[r - 1] + count[r - 1];
  std::vector<T> all(comm.root() ? static_cast<std::size_t>(first.back() + count.back()) : 0);
  const MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT;
  MPI_Gatherv(mine.data(), own, type, all.data(), count.data(), first.data(), type, 0, comm.handle());
  return all;
}

/// Electrons on each function of own columns, 2 (D S)_ii: D and S have the block column, both symmetric.
std::vector<double> populations(const MatrixSystem& system, const DensityOptions& options,
                                const DensityResult& result) {
  std::vector<double> out;
  for (int column : result.density.columns()) {
    const int width = system.layout->size(column);
    std::vector<double> sums(width, 0.0);
    const BlockColumn d = result.density.column(column);
    for (std::size_t e = 0; e < d.rows.size(); ++e) {
      const double* other = options.orthogonal ? nullptr : system.overlap.block(d.rows[e], column);
      const int rows = system.layout->size(d.rows[e]);
      for (int i = 0; i < rows; ++i)
        for (int q = 0; q < width; ++q) {
          const double s = options.orthogonal ? (d.rows[e] == column && i == q) : other ? other[i * width + q] : 0.0;
          sums[q] += 2.0 * d.block(e)[i * width + q] * s;
        }
    }
    out.insert(out.end(), sums.begin(), sums.end());
  }
  return out;
}

/// Sums over the functions of each atom. `difference`: spin up less spin down, or empty.
void write_charges(const std::string& path, const MatrixSystem& system, const std::vector<double>& population,
                   const std::vector<double>& difference = {}) {
  std::vector<double> atom, block_of, number, electrons, spin;
  std::size_t f = 0;
  for (int block = 0; block < system.layout->blocks(); ++block)
    for (const auto& a : system.block_atoms[static_cast<std::size_t>(block) % system.block_atoms.size()]) {
      double sum = 0.0, up = 0.0;
      for (int k = 0; k < a.functions; ++k, ++f) {
        sum += population[f];
        up += difference.empty() ? 0.0 : difference[f];
      }
      atom.push_back(static_cast<double>(atom.size()));
      block_of.push_back(block);
      number.push_back(a.number);
      electrons.push_back(sum);
      spin.push_back(up);
    }
  std::vector<io::Column> head{{"atom", "", "in the order of the blocks"},
                               {"block", "", ""},
                               {"atomic_number", "", ""},
                               {"mulliken_electrons", "", "2 (D S) summed over the atom's functions"}};
  std::vector<std::vector<double>> columns{atom, block_of, number, electrons};
  if (!difference.empty()) {
    head[3].doc = "D S of both spins summed over the atom's functions";
    head.push_back({"spin", "", "electrons of spin up less spin down"});
    columns.push_back(spin);
  }
  io::write_csv(path, head, columns);
}

void write_sizes(const std::string& path, const std::vector<int>& all) {
  std::vector<double> block(all.size()), size(all.begin(), all.end());
  for (std::size_t k = 0; k < block.size(); ++k) block[k] = static_cast<double>(k);
  io::write_csv(path, {{"block", "", "block column"}, {"dimension", "", "rows of its submatrix"}}, {block, size});
}

/// Coordinates of all blocks: column, row, place of the values.
void write_matrix(const std::string& path, const BlockColumns& matrix, const std::string& what, Context& context) {
  std::vector<int> column, row;
  std::vector<double> value;
  for (int c : matrix.columns()) {
    const BlockColumn blocks = matrix.column(c);
    for (std::size_t e = 0; e < blocks.rows.size(); ++e) {
      column.push_back(c);
      row.push_back(blocks.rows[e]);
      value.insert(value.end(), blocks.block(e),
                   blocks.block(e) + matrix.layout().size(blocks.rows[e]) * matrix.layout().size(c));
    }
  }
  column = gathered(column, context.comm);
  row = gathered(row, context.comm);
  value = gathered(value, context.comm);
  if (!context.comm.root()) return;
  std::vector<int> sizes;
  for (int b = 0; b < matrix.layout().blocks(); ++b) sizes.push_back(matrix.layout().size(b));
  const auto provenance = io::provenance_of(context);
  io::write_h5_atomically(path, [&](io::File& file) {
    io::write_provenance(file, provenance);
    file.set_attribute("description", what);
    file.set_attribute("storage",
                       "block e has rows of block `row[e]` and columns of block `column[e]`, row-major; blocks follow "
                       "one another in `values`");
    io::follow_cf(file);
    auto add = [&](const char* along, std::int64_t length, io::Dataset array, const std::string& meaning) {
      if (!file.exists(along)) io::write_dimension(file, along, length);
      io::labelled(array, "", meaning);
      file.attach_scales(array.path(), {along});
    };
    add("block", std::ssize(sizes), file.write("block_sizes", sizes), "functions of each block");
    add("entry", std::ssize(column), file.write("column", column), "block column of each block that is kept");
    add("entry", std::ssize(row), file.write("row", row), "block row of each block that is kept");
    add("element", std::ssize(value), file.write("values", value), what);
  });
}

}  // namespace

std::vector<std::string> write_results(const MatrixSystem& system, const DensityOptions& options,
                                       const DensityResult& result, const std::vector<std::string>& wanted,
                                       Context& context) {
  namespace fs = std::filesystem;
  const auto path = [&](const char* name) { return (fs::path(context.run_directory) / name).string(); };
  std::vector<std::string> files;
  for (const auto& name : wanted) {
    if (name == "charges") {
      const auto all = gathered(populations(system, options, result), context.comm);
      if (context.comm.root()) write_charges(path("charges.csv"), system, all);
      files.push_back("charges.csv");
    } else if (name == "sizes") {
      const auto all = gathered(result.dimensions, context.comm);
      if (context.comm.root()) write_sizes(path("submatrices.csv"), all);
      files.push_back("submatrices.csv");
    } else if (name == "density") {
      write_matrix(path("density.h5"), result.density, "density matrix D of one spin; electrons are 2 Tr(D S)",
                   context);
      files.push_back("density.h5");
    } else if (name == "energy_density" && result.energy_weighted) {
      write_matrix(path("energy_density.h5"), *result.energy_weighted,
                   "energy-weighted density matrix W of one spin (hartree)", context);
      files.push_back("energy_density.h5");
    }
  }
  return files;
}

std::vector<std::string> write_spins(const MatrixSystem& system, const DensityOptions& options,
                                     const SpinDensity& spins, const std::vector<std::string>& wanted,
                                     Context& context) {
  const auto path = [&](const std::string& name) {
    return (std::filesystem::path(context.run_directory) / name).string();
  };
  std::vector<std::string> files;
  for (const auto& name : wanted) {
    if (name == "charges") {
      auto sum = gathered(populations(system, options, spins.channel[0]), context.comm), difference = sum;
      const auto down = gathered(populations(system, options, spins.channel[1]), context.comm);
      // Populations count two electrons for each state.
      for (std::size_t k = 0; k < down.size(); ++k) {
        sum[k] = 0.5 * (sum[k] + down[k]);
        difference[k] = sum[k] - down[k];
      }
      if (context.comm.root()) write_charges(path("charges.csv"), system, sum, difference);
      files.push_back("charges.csv");
      continue;
    }
    for (std::size_t s = 0; s < 2; ++s) {
      const std::string spin = s == 0 ? "up" : "down";
      const DensityResult& result = spins.channel[s];
      if (name == "sizes") {
        const auto all = gathered(result.dimensions, context.comm);
        files.push_back(fmt::format("submatrices_{}.csv", spin));
        if (context.comm.root()) write_sizes(path(files.back()), all);
      } else {
        const bool weighted = name == "energy_density";
        files.push_back(fmt::format("{}_{}.h5", name, spin));
        write_matrix(path(files.back()), weighted ? *result.energy_weighted : result.density,
                     fmt::format("{} of spin {}; electrons of this spin are Tr(D S)",
                                 weighted ? "energy-weighted density matrix W (hartree)" : "density matrix D", spin),
                     context);
      }
    }
  }
  return files;
}

}  // namespace cambium::submatrix
