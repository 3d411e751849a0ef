#include "plugins/md/tasks/ipi.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/md/ipi/driven_forces.hpp"
#include "plugins/md/ipi/ipi_socket.hpp"

namespace cambium::md {

using constants::angstrom_per_bohr;
using constants::ev_per_hartree;

/// Next request of the server: evaluate positions, or end.
struct Ipi::Request {
  bool evaluate = false;
  std::array<double, 9> cell{};   ///< Å, rows a, b, c
  std::vector<double> positions;  ///< Å
};

namespace {

/// Receives cell and positions of POSDATA; false if the connection ended. InputError for a different number of atoms.
bool receive_positions(IpiSocket& socket, std::int64_t atoms, std::array<double, 9>& cell,
                       std::vector<double>& positions) {
  double columns[9], inverse[9];
  std::int32_t count = 0;
  if (!socket.receive(columns, sizeof columns) || !socket.receive(inverse, sizeof inverse) ||
      !socket.receive(&count, sizeof count))
    return false;
  if (count != atoms)
    throw InputError(fmt::format(
        "ipi: the server sent {} atoms, but the structure has {}; give the structure of the server", count, atoms));
  positions.resize(static_cast<std::size_t>(3 * atoms));
  if (!socket.receive(positions.data(), positions.size() * sizeof(double))) return false;
  for (std::size_t k = 0; k < 9; ++k) cell[k] = columns[k % 3 * 3 + k / 3] * angstrom_per_bohr;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (!std::isfinite(positions[k]))
      throw InputError(fmt::format("ipi: the server sent a position that is not finite (atom {})", k / 3 + 1));
    positions[k] *= angstrom_per_bohr;
  }
  return true;
}

/// Reads a bead index and a text, which are not used.
bool skip_initialisation(IpiSocket& socket) {
  std::int32_t bead = 0, bytes = 0;
  if (!socket.receive(&bead, sizeof bead) || !socket.receive(&bytes, sizeof bytes)) return false;
  std::vector<char> text(static_cast<std::size_t>(std::max(bytes, 0)));
  return socket.receive(text.data(), text.size());
}

void send_answer(IpiSocket& socket, const DrivenForces::Answer& answer) {
  const double energy = answer.energy / ev_per_hartree;
  const auto count = static_cast<std::int32_t>(answer.forces.size() / 3);
  std::vector<double> forces;
  for (const double f : answer.forces) forces.push_back(f * angstrom_per_bohr / ev_per_hartree);
  double virial[9];
  for (std::size_t k = 0; k < 9; ++k) virial[k] = answer.virial[k % 3 * 3 + k / 3] / ev_per_hartree;
  const std::int32_t more = 1;  // some servers cannot read an empty text
  socket.send_header("FORCEREADY");
  socket.send(&energy, sizeof energy);
  socket.send(&count, sizeof count);
  socket.send(forces.data(), forces.size() * sizeof(double));
  socket.send(virial, sizeof virial);
  socket.send(&more, sizeof more);
  socket.send("", 1);
}

bool stop_asked(const Context& context) { return context.stop && context.stop->asked(); }

}  // namespace

Ipi::Ipi(const Params& params, Context& context)
    : params_(params), potential_(context.registry->make<Potential>(params.potential, context)) {}

void Ipi::examine(Check& check) {
  if (!check.stage().tried) return;
  Context& context = check.context();
  if (const auto species = species_of(params_.structure, {}, context))
    deck::about_key("", "potential", [&] { potential_->bind(*species); });
  const auto place = params_.unix_socket.empty() ? fmt::format("{}:{}", params_.host, params_.port)
                                                 : fmt::format("UNIX socket {}", params_.unix_socket);
  context.log.info(fmt::format("ipi: forces for a server at {}\n{}", place, potential_->summary()));
}

/// Replies to messages that need no forces, until positions are to be evaluated or the server ends.
Ipi::Request Ipi::receive(IpiSocket& socket) const {
  Request out;
  for (;;) {
    const auto word = socket.header();
    if (word.empty() || word == "EXIT") return {};
    if (word == "STATUS") {
      socket.send_header("READY");
    } else if (word == "INIT") {
      if (!skip_initialisation(socket)) return {};
    } else if (word == "POSDATA") {
      if (!receive_positions(socket, atoms_, out.cell, out.positions)) return {};
      out.evaluate = true;
      return out;
    } else if (word == "GETFORCE") {
      throw InputError("ipi: the server requested forces (GETFORCE) before it sent positions (POSDATA)");
    } else {
      throw InputError(fmt::format(
          "ipi: the server sent '{}', expected STATUS, INIT, POSDATA, GETFORCE or EXIT; it uses another protocol",
          word));
    }
  }
}

Task::Outcome Ipi::run(Context& context) {
  params_.structure.velocities = false;
  const Particles atoms =
      deck::about_key("", "structure", [&] { return build_structure(params_.structure, {}, context); });
  DrivenForces forces = deck::about_key("", "potential", [&] { return DrivenForces(atoms, *potential_, context); });
  atoms_ = forces.atoms();
  std::unique_ptr<IpiSocket> socket;
  io::on_root(context.comm, [&] {
    socket = std::make_unique<IpiSocket>(params_.unix_socket, params_.host, params_.port, params_.timeout,
                                         [&] { return stop_asked(context); });
  });
  Request request;
  std::vector<double> numbers(static_cast<std::size_t>(10 + 3 * atoms_));
  for (;;) {
    {
      const auto timer = context.timing.scope("wait for the server");
      io::on_root(context.comm, [&] {
        request = receive(*socket);
        numbers[0] = request.evaluate ? 1.0 : 0.0;
        std::copy(request.cell.begin(), request.cell.end(), numbers.begin() + 1);
        std::copy(request.positions.begin(), request.positions.end(), numbers.begin() + 10);
      });
      context.comm.broadcast(numbers);
    }
    if (numbers[0] == 0.0) break;
    std::copy_n(numbers.begin() + 1, 9, request.cell.begin());
    request.positions.assign(numbers.begin() + 10, numbers.end());
    const auto timer = context.timing.scope("force");
    const auto answer = forces.evaluate(request.cell, request.positions);
    ++evaluations_;
    io::on_root(context.comm, [&] {
      for (std::string word = socket->header(); word != "GETFORCE"; word = socket->header()) {
        if (word.empty() || word == "EXIT") return;
        if (word == "STATUS") socket->send_header("HAVEDATA");
      }
      send_answer(*socket, answer);
    });
  }
  return context.comm.max(stop_asked(context) ? 1 : 0) ? Outcome::stopped_early : Outcome::done;
}

std::vector<Result> Ipi::results() const {
  return {{"evaluations", "evaluations for the server", static_cast<double>(evaluations_)}};
}

std::vector<Citation> Ipi::citations() const {
  auto all = potential_->citations();
  all.push_back(
      {"Kapil2019",
       "@article{Kapil2019,\n  author = {Kapil, Venkat and Rossi, Mariana and Marsalek, Ondrej and Petraglia, "
       "Riccardo and Litman, Yair and Spura, Thomas and Cheng, Bingqing and Cuzzocrea, Alice and Mei{\\ss}ner, "
       "Robert H. and Wilkins, David M. and others},\n  title = {i-{PI} 2.0: A universal force engine for "
       "advanced molecular simulations},\n  journal = {Computer Physics Communications},\n  volume = {236},\n "
       " pages = {214--223},\n  year = {2019},\n  doi = {10.1016/j.cpc.2018.09.020}\n}\n"});
  return all;
}

}  // namespace cambium::md
