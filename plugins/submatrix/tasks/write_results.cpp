#include <fmt/format.h>

#include <filesystem>

#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/gather.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

namespace {

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

const std::vector<BlockAtom>& atoms_of_block(const MatrixSystem& system, int block) {
  return system.block_atoms[static_cast<std::size_t>(block) % system.block_atoms.size()];
}

/// 2 where a block has real and imaginary parts, else 1.
int parts_of(const MatrixSystem& system, int block) {
  if (!system.complex) return 1;
  int functions = 0;
  for (const auto& a : atoms_of_block(system, block)) functions += a.functions;
  return system.layout->size(block) / functions;
}

/// Index of every atom, block by block, in the order of the source: cell by cell, in each that of the file.
std::vector<std::size_t> source_indices(const MatrixSystem& system) {
  std::size_t cell = 0;  // atoms of one
  for (const auto& block : system.block_atoms) cell += block.size();
  std::vector<std::size_t> out;
  for (int block = 0; block < system.layout->blocks() / system.points(); ++block) {
    const auto first = static_cast<std::size_t>(block) / system.block_atoms.size() * cell;
    for (const auto& a : atoms_of_block(system, block))
      out.push_back(a.index < 0 ? out.size() : first + static_cast<std::size_t>(a.index));
  }
  return out;
}

/// Values of atoms, block by block, in the order of the source.
std::vector<double> in_order(const std::vector<double>& values, const std::vector<std::size_t>& indices) {
  std::vector<double> out(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) out[indices[k]] = values[k];
  return out;
}

/// Sums over the functions of each atom and over the copies of its states. `difference`: spin up less spin down, or
/// empty.
void write_charges(const std::string& path, const MatrixSystem& system, const std::vector<double>& population,
                   const std::vector<double>& difference = {}) {
  std::vector<double> atom, block_of, number, electrons, spin;
  const int blocks = system.layout->blocks() / system.points();
  std::size_t f = 0, at = 0;
  for (int block = 0; block < system.layout->blocks(); ++block) {
    const int parts = parts_of(system, block);
    if (block % blocks == 0) at = 0;
    for (const auto& a : atoms_of_block(system, block)) {
      double sum = 0.0, up = 0.0;
      for (int k = 0; k < parts * a.functions; ++k, ++f) {
        sum += population[f] / system.copies;
        up += difference.empty() ? 0.0 : difference[f];
      }
      if (block < blocks) {
        atom.push_back(static_cast<double>(atom.size()));
        block_of.push_back(block);
        number.push_back(a.number);
        electrons.push_back(0.0);
        spin.push_back(0.0);
      }
      electrons[at] += sum;
      spin[at++] += up;
    }
  }
  std::vector<io::Column> head{{"atom", "", "in the order of the file"},
                               {"block", "", "block column of the atom's functions"},
                               {"atomic_number", "", ""},
                               {"mulliken_electrons", "", "2 (D S) summed over the atom's functions"}};
  const auto indices = source_indices(system);
  std::vector<std::vector<double>> columns{atom};
  for (const auto* values : {&block_of, &number, &electrons}) columns.push_back(in_order(*values, indices));
  if (!difference.empty()) {
    head[3].doc = "D S of both spins summed over the atom's functions";
    head.push_back({"spin", "", "electrons of spin up less spin down"});
    columns.push_back(in_order(spin, indices));
  }
  io::write_csv(path, head, columns);
}

void write_sizes(const std::string& path, const std::vector<int>& all) {
  std::vector<double> block(all.size()), size(all.begin(), all.end());
  for (std::size_t k = 0; k < block.size(); ++k) block[k] = static_cast<double>(k);
  io::write_csv(path, {{"block", "", "block column"}, {"dimension", "", "rows of its submatrix"}}, {block, size});
}

/// Coordinates of all blocks: k-point, column, row, offset of the values.
struct WrittenBlocks {
  std::vector<int> point, column, row;
  std::vector<double> value, imaginary;

  WrittenBlocks(const MatrixSystem& system, const BlockColumns& matrix) {
    const int blocks = matrix.layout().blocks() / system.points();
    for (int c : matrix.columns()) {
      const BlockColumn own = matrix.column(c);
      const int parts = parts_of(system, c), width = matrix.layout().size(c);
      for (std::size_t e = 0; e < own.rows.size(); ++e) {
        point.push_back(c / blocks);
        column.push_back(c % blocks);
        row.push_back(own.rows[e] % blocks);
        for (int i = 0; i < matrix.layout().size(own.rows[e]); i += parts)
          for (int j = 0; j < width; j += parts) {
            const double* at = own.block(e) + i * width + j;
            value.push_back(at[0]);
            if (system.complex) imaginary.push_back(parts == 2 ? at[width] : 0.0);
          }
      }
    }
  }
  void gather(const Comm& comm) {
    for (auto* list : {&point, &column, &row}) *list = cambium::gather(*list, comm);
    for (auto* list : {&value, &imaginary}) *list = cambium::gather(*list, comm);
  }
};

void write_k_points(io::File& file, const MatrixSystem& system) {
  std::vector<double> k, weight;
  for (const auto& p : system.k_points) {
    k.insert(k.end(), p.k.begin(), p.k.end());
    weight.push_back(p.weight);
  }
  io::write_dimension(file, "point", std::ssize(weight));
  io::write_dimension(file, "direction", 3);
  io::Dataset points = file.write("k_points", io::tensor_of(k.data(), {std::ssize(weight), 3}));
  io::labelled(points, "", "k-points in units of the reciprocal cell vectors; of k and -k one, D(-k) is the conjugate");
  file.attach_scales(points.path(), {"point", "direction"});
  io::Dataset weights = file.write("k_weights", weight);
  io::labelled(weights, "", "fraction of the zone of each k-point");
  file.attach_scales(weights.path(), {"point"});
}

/// Atoms of the rows: their indices in the order of the source, and their functions, block by block.
void write_atoms(io::File& file, const MatrixSystem& system) {
  std::vector<std::int64_t> index, functions;
  for (const auto i : source_indices(system)) index.push_back(static_cast<std::int64_t>(i));
  for (int b = 0; b < system.layout->blocks() / system.points(); ++b)
    for (const auto& a : atoms_of_block(system, b)) functions.push_back(a.functions);
  io::write_dimension(file, "place", std::ssize(index));
  io::Dataset atoms = file.write("atom", index);
  io::labelled(atoms, "",
               "index, in the order of the file, of each atom; rows are those of its functions, block by block");
  io::Dataset counts = file.write("atom_functions", functions);
  io::labelled(counts, "", "functions of each of these atoms");
  for (const auto& set : {atoms, counts}) file.attach_scales(set.path(), {"place"});
}

void write_matrix(const std::string& path, const MatrixSystem& system, const BlockColumns& matrix,
                  const std::string& what, Context& context) {
  WrittenBlocks blocks(system, matrix);
  blocks.gather(context.comm);
  if (!context.comm.root()) return;
  std::vector<int> sizes;
  for (int b = 0; b < matrix.layout().blocks() / system.points(); ++b)
    sizes.push_back(matrix.layout().size(b) / parts_of(system, b));
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
    if (!system.block_atoms.empty()) write_atoms(file, system);
    add("block", std::ssize(sizes), file.write("block_sizes", sizes), "functions of each block");
    const auto entries = std::ssize(blocks.column), elements = std::ssize(blocks.value);
    add("entry", entries, file.write("column", blocks.column), "block column of each stored block");
    add("entry", entries, file.write("row", blocks.row), "block row of each stored block");
    add("element", elements, file.write("values", blocks.value), what);
    if (system.complex)
      add("element", elements, file.write("imaginary", blocks.imaginary), "imaginary parts of values");
    if (system.k_points.empty()) return;
    add("entry", entries, file.write("k_point", blocks.point), "k-point of each stored block, from 0");
    write_k_points(file, system);
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
      const auto all = gather(populations(system, options, result), context.comm);
      if (context.comm.root()) write_charges(path("charges.csv"), system, all);
      files.push_back("charges.csv");
    } else if (name == "sizes") {
      const auto all = gather(result.dimensions, context.comm);
      if (context.comm.root()) write_sizes(path("submatrices.csv"), all);
      files.push_back("submatrices.csv");
    } else if (name == "density") {
      write_matrix(path("density.h5"), system, result.density, "density matrix D of one spin; electrons are 2 Tr(D S)",
                   context);
      files.push_back("density.h5");
    } else if (name == "energy_density" && result.energy_weighted) {
      write_matrix(path("energy_density.h5"), system, *result.energy_weighted,
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
      auto sum = gather(populations(system, options, spins.channel[0]), context.comm), difference = sum;
      const auto down = gather(populations(system, options, spins.channel[1]), context.comm);
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
        const auto all = gather(result.dimensions, context.comm);
        files.push_back(fmt::format("submatrices_{}.csv", spin));
        if (context.comm.root()) write_sizes(path(files.back()), all);
      } else {
        const bool weighted = name == "energy_density";
        files.push_back(fmt::format("{}_{}.h5", name, spin));
        write_matrix(path(files.back()), system, weighted ? *result.energy_weighted : result.density,
                     fmt::format("{} of spin {}; electrons of this spin are Tr(D S)",
                                 weighted ? "energy-weighted density matrix W (hartree)" : "density matrix D", spin),
                     context);
      }
    }
  }
  return files;
}

}  // namespace cambium::submatrix
