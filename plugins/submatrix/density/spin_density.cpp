#include "plugins/submatrix/density/spin_density.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/submatrix/density/electron_check.hpp"
#include "plugins/submatrix/submatrices/inverse_root.hpp"

namespace cambium::submatrix {

namespace {

/// Adds column `column` of `from` as column 2 column + channel.
void add_column(const BlockColumns& from, int column, int channel, BlockColumns& out) {
  out.start_column(2 * column + channel);
  const BlockColumn c = from.column(column);
  for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_block(2 * c.rows[e] + channel, c.block(e));
}

BlockColumns interleaved(const BlockColumns& up, const BlockColumns& down,
                         const std::shared_ptr<const BlockLayout>& layout) {
  BlockColumns out(layout);
  for (int column : up.columns()) {
    add_column(up, column, 0, out);
    add_column(down, column, 1, out);
  }
  out.finish();
  return out;
}

/// Both channels as one block-diagonal system.
MatrixSystem both_channels(const MatrixSystem& system) {
  std::vector<int> sizes;
  for (int b = 0; b < system.layout->blocks(); ++b) sizes.insert(sizes.end(), 2, system.layout->size(b));
  const auto layout = std::make_shared<const BlockLayout>(std::move(sizes));
  MatrixSystem out{layout,
                   system.ranges,
                   interleaved(system.hamiltonian, *system.hamiltonian_down, layout),
                   interleaved(system.overlap, system.overlap, layout),
                   system.atoms,
                   2.0 * system.electrons,
                   {},
                   {},
                   system.name,
                   {}};
  for (int& first : out.ranges.first) first *= 2;
  for (const auto& x : system.centres) {
    out.centres.push_back(x);
    out.centres.push_back({x[0] + 1e6, x[1], x[2]});  // far away: no group of both channels
  }
  out.channels = 2;
  return out;
}

BlockColumns channel_of(const BlockColumns& both, int channel, const std::shared_ptr<const BlockLayout>& layout) {
  BlockColumns out(layout);
  for (int column : both.columns()) {
    if (column % 2 != channel) continue;
    out.start_column(column / 2);
    const BlockColumn c = both.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_block(c.rows[e] / 2, c.block(e));
  }
  out.finish();
  return out;
}

/// Energies and errors of two spins become those of one.
void halve(DensityResult& result) {
  for (double* x :
       {&result.energy, &result.electrons, &result.entropy_term, &result.error.electron_defect,
        &result.error.energy_change, &result.error.margin, &result.error.sampling, &result.error.electron_change})
    *x *= 0.5;
}

DensityResult channel_of(const DensityResult& both, int channel, const std::shared_ptr<const BlockLayout>& layout) {
  DensityResult out(layout);
  const auto s = static_cast<std::size_t>(channel);
  out.energy = both.channel_energy[s];
  out.electrons = both.channel_electrons[s];
  out.entropy_term = both.channel_entropy[s];
  out.mu = both.mu;
  out.fermi_level = both.fermi_level;
  out.gap_low = both.gap_low;
  out.gap_high = both.gap_high;
  out.density = channel_of(both.density, channel, layout);
  if (both.energy_weighted) out.energy_weighted = channel_of(*both.energy_weighted, channel, layout);
  for (std::size_t k = s; k < both.dimensions.size(); k += 2) out.dimensions.push_back(both.dimensions[k]);
  out.columns = both.columns;
  out.purification = both.purification;
  out.groups = both.groups;
  out.root_dimension = both.root_dimension;
  out.root_steps = both.root_steps;
  out.smallest_overlap = both.smallest_overlap;
  if (channel == 0) {
    out.error = both.error;
    out.bytes = both.bytes;
    out.flops = both.flops;
    out.column_flops = both.column_flops;
  }
  halve(out);
  return out;
}

}  // namespace

SpinDensity spin_density(const MatrixSystem& system, const DensityOptions& options, std::optional<double> magnetisation,
                         Context& context) {
  if (!system.hamiltonian_down) throw InternalError("spin_density() needs two Hamiltonians");
  DensityOptions own = options;
  if (magnetisation && std::abs(*magnetisation) >= options.electrons)
    throw KeyError(
        "density_matrix.magnetisation.sum", "magnetisation",
        fmt::format("magnetisation is {}, but there are {} electrons; it is the number of electrons of spin up less "
                    "that of spin down",
                    *magnetisation, options.electrons));
  check_electrons(options.electrons, system.layout->dimension(), options);  // before the doubling below
  if (magnetisation) check_spins(options.electrons, *magnetisation, system.layout->dimension(), options);
  std::shared_ptr<const RootResult> root = options.root;  // both channels have one overlap
  if (!root && !options.orthogonal && options.form != Form::local)
    root = std::make_shared<const RootResult>(overlap_root(system, options, context));
  const auto add_root = [&](DensityResult& to) {
    if (root && !options.root) {
      to.bytes += root->bytes;
      to.flops += root->flops;
    }
  };
  if (!magnetisation) {
    own.electrons = 2.0 * options.electrons;  // one electron in each state of the step, which counts two
    const MatrixSystem together = both_channels(system);
    if (root) {
      RootResult twice = *root;
      twice.root = interleaved(root->root, root->root, together.layout);
      own.root = std::make_shared<const RootResult>(std::move(twice));
    }
    DensityResult both = density_matrix(together, own, context);
    add_root(both);
    return {{channel_of(both, 0, system.layout), channel_of(both, 1, system.layout)}, true};
  }
  own.root = root;
  const auto run = [&](const BlockColumns& hamiltonian, double electrons) {
    MatrixSystem channel = system;
    channel.hamiltonian = hamiltonian;
    own.electrons = 2.0 * electrons;
    DensityResult out = density_matrix(channel, own, context);
    halve(out);
    return out;
  };
  DensityResult up = run(system.hamiltonian, 0.5 * (options.electrons + *magnetisation));
  add_root(up);
  return {{std::move(up), run(*system.hamiltonian_down, 0.5 * (options.electrons - *magnetisation))}, false};
}

}  // namespace cambium::submatrix
