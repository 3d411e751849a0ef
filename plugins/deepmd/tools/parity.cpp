#include "plugins/deepmd/tools/parity.hpp"

#include "core/parallel/agree.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"

namespace cambium::deepmd {

namespace {

/// First row of a frame in each quantity.
struct Compared {
  std::size_t energy = 0, force = 0, virial = 0;
};

/// Allocates every row with its indices and reference; the predictions stay zero.
std::vector<Compared> lay_out(const LabelledData& data, std::size_t frames, Parity& p) {
  std::vector<Compared> begin;
  for (std::size_t k = 0; k < frames; ++k) {
    const LabelledFrame& frame = data.frame(k);
    begin.push_back({p.energy.rows(), p.force.rows(), p.virial.rows()});
    const auto number = static_cast<std::int64_t>(k);
    const auto atoms = static_cast<double>(frame.x.size());
    if (frame.energy) {
      p.energy.place.push_back(number);
      p.energy.reference.push_back(*frame.energy / atoms);
    }
    for (std::size_t i = 0; i < frame.force.size(); ++i) {
      p.force.place.insert(p.force.place.end(), {number, static_cast<std::int64_t>(i)});
      const auto given = frame.axes.vector(frame.force[i].data());
      p.force.reference.insert(p.force.reference.end(), given.begin(), given.end());
    }
    if (frame.virial.empty()) continue;
    p.virial.place.push_back(number);
    for (const double w : frame.axes.tensor(frame.virial.data())) p.virial.reference.push_back(w / atoms);
  }
  for (auto* q : p.all()) q->predicted.assign(q->reference.size(), 0.0);
  return begin;
}

void predict(const LabelledFrame& frame, const Evaluation& e, const Compared& at, Parity& p) {
  const auto atoms = static_cast<double>(frame.x.size());
  if (frame.energy) p.energy.predicted[at.energy] = e.energy / atoms;
  for (std::size_t i = 0; i < frame.force.size(); ++i) {
    const auto model = frame.axes.vector(e.force[i].data());
    std::copy(model.begin(), model.end(), &p.force.predicted[3 * (at.force + i)]);
  }
  if (frame.virial.empty()) return;
  const auto model = frame.axes.tensor(e.virial);
  for (std::size_t q = 0; q < 9; ++q) p.virial.predicted[9 * at.virial + q] = model[q] / atoms;
}

}  // namespace

Parity::Parity() {
  energy = {"energy", "eV/atom", "energy of a frame per atom", {"frame"}, {}, {}, {}, {}};
  force = {"force", "eV/angstrom", "force on an atom", {"frame", "atom"}, {"x", "y", "z"}, {}, {}, {}};
  virial = {"virial",
            "eV/atom",
            "virial of a frame per atom",
            {"frame"},
            {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"},
            {},
            {},
            {}};
}

void Parity::append(const Parity& other) {
  const auto before = static_cast<std::int64_t>(frames);
  frames += other.frames;
  for (std::size_t k = 0; k < 3; ++k) {
    auto& q = *all()[k];
    const auto& more = *other.all()[k];
    for (std::size_t n = 0; n < more.place.size(); ++n)
      q.place.push_back(more.place[n] + (n % more.places.size() == 0 ? before : 0));
    q.reference.insert(q.reference.end(), more.reference.begin(), more.reference.end());
    q.predicted.insert(q.predicted.end(), more.predicted.begin(), more.predicted.end());
  }
}

std::vector<std::string> Parity::write(const std::string& folder, const std::string& stem) const {
  const io::ParityQuantity quantities[] = {energy, force, virial};
  return io::write_parity(folder, stem, quantities);
}

LabelledData load_labelled(const std::string& path, const ExtxyzKeys& keys, const Comm& comm,
                           const LammpsKeys& lammps) {
  LabelledData out;
  io::on_every_rank(comm, [&] { out = LabelledData::load(path, keys.labels(), lammps); });
  return out;
}

Parity parity_of(const LabelledData& data, const ToolOptions& options, std::size_t most_frames, const Comm& comm) {
  Parity out;
  out.frames = most_frames ? std::min(most_frames, data.frames()) : data.frames();
  const auto rows = lay_out(data, out.frames, out);
  io::on_every_rank(comm, [&] {
    auto engine = engine_of(options, data, out.remark);
    for (auto k = static_cast<std::size_t>(comm.rank()); k < out.frames; k += static_cast<std::size_t>(comm.size())) {
      const auto types = data.types(k, engine->model().type_map, options.model);
      predict(data.frame(k), evaluate_frame(*engine, data.frame(k), types), rows[k], out);
    }
  });
  for (auto* q : out.all()) comm.sum(q->predicted);
  return out;
}

}  // namespace cambium::deepmd
