#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/structures/extxyz.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

constexpr double bar_per_ev_per_cubic_angstrom = 1602176.634;

std::string result_line(const std::string& label, const Evaluation& e, const LabelledFrame& frame) {
  double largest = 0.0;
  for (const auto& f : e.force) largest = std::max(largest, std::hypot(f[0], f[1], f[2]));
  std::string text = fmt::format("{}: energy {:.10g} eV ({:.8g} eV/atom), largest force {:.6g} eV/Å", label, e.energy,
                                 e.energy / static_cast<double>(e.force.size()), largest);
  // A slab has no volume.
  if (frame.box && frame.open == std::array<bool, 3>{}) {
    const double trace = e.virial[0] + e.virial[4] + e.virial[8];
    text +=
        fmt::format(", virial pressure {:.6g} bar", trace / 3.0 / frame.box->volume() * bar_per_ev_per_cubic_angstrom);
  }
  return text + "\n";
}

/// Index of the frame of a file selected by the options.
std::size_t frame_number(const EvalOptions& options, std::size_t frames) {
  const auto count = static_cast<std::int64_t>(frames);
  const std::int64_t k = options.frame < 0 ? count + options.frame : options.frame;
  if (k < 0 || k >= count)
    throw InputError(fmt::format("{}: has {} frame(s), counted from 0; frame {} was requested", options.structure,
                                 count, options.frame));
  return static_cast<std::size_t>(k);
}

/// Frames with a cell in the project's own extended XYZ format; molecules with forces only.
std::string text_with_forces(const LabelledData& data, std::size_t k, const Evaluation& e) {
  const LabelledFrame& from = data.frame(k);
  io::Frame frame;
  std::vector<std::string> symbols = data.species(k);
  for (const auto& symbol : symbols) frame.species.push_back({symbol, 0.0});
  frame.type = data.own_types(k);
  for (std::size_t i = 0; i < from.x.size(); ++i) {
    const auto x = from.axes.vector(from.x[i].data()), f = from.axes.vector(e.force[i].data());
    frame.id.push_back(static_cast<std::int64_t>(i) + 1);
    frame.position.insert(frame.position.end(), x.begin(), x.end());
    frame.force.insert(frame.force.end(), f.begin(), f.end());
    frame.image.insert(frame.image.end(), {0, 0, 0});
  }
  frame.energy = e.energy;
  if (from.box) {
    frame.set_cell(*from.box, from.axes);
    frame.virial = from.axes.tensor(e.virial);
    return io::extxyz_text(frame);
  }
  std::string text =
      fmt::format("{}\nProperties=species:S:1:pos:R:3:forces:R:3 pbc=\"F F F\" energy={}\n", frame.size(), e.energy);
  for (std::size_t i = 0; i < from.x.size(); ++i)
    text += fmt::format("{} {} {}\n", symbols[frame.type[i]],
                        fmt::join(&frame.position[3 * i], &frame.position[3 * i] + 3, " "),
                        fmt::join(&frame.force[3 * i], &frame.force[3 * i] + 3, " "));
  return text;
}

/// One frame of a file or, without `frame`, all of a system.
std::string evaluate_labelled(const EvalOptions& options, bool system) {
  if (system && !options.output.empty())
    throw InputError("--output writes forces of an extended XYZ file; the structure is a system of DeePMD-kit");
  const LabelledData data = LabelledData::load_positions(options.structure, options.lammps);
  std::string unused, text;
  if (!system && !options.structure.ends_with("xyz"))
    for (const auto& remark : data.remarks()) text += remark + "\n";
  auto engine = engine_of(options, data, unused);
  if (!unused.empty()) text += fmt::format("{}: {}\n", options.structure, unused);
  const std::size_t first = system ? 0 : frame_number(options, data.frames()),
                    last = system ? data.frames() : first + 1;
  for (std::size_t k = first; k < last; ++k) {
    const auto types = data.types(k, engine->model().type_map, options.model);
    const Evaluation e = evaluate_frame(*engine, data.frame(k), types);
    text +=
        result_line(system ? fmt::format("{} frame {}", options.structure, k) : options.structure, e, data.frame(k));
    if (!options.output.empty()) io::write_file_atomically(options.output, text_with_forces(data, k, e));
  }
  return text;
}

}  // namespace

std::string evaluate_files(const EvalOptions& options, const Comm& comm) {
  if (comm.size() > 1) throw InputError("the model tools run on one rank; start them without mpirun");
  return evaluate_labelled(options, is_system_path(options.structure));
}

}  // namespace cambium::deepmd
