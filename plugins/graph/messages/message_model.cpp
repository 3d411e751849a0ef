#include "plugins/graph/messages/message_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/deck/describe.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/model_seal.hpp"
#include "core/io/reading.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/messages/message_keys.hpp"

namespace cambium::graph {

namespace {

class Arrays {
 public:
  explicit Arrays(const io::File& file) : file_(file) {}

  std::vector<double> read(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const std::string path = "/weights/" + name;
    if (!file_.exists(path)) throw InputError(fmt::format("'{}' has no array {}; train it again", file_.file(), path));
    const auto array = file_.dataset(path);
    if (array.has_attribute("scale_factor"))
      throw InputError(
          fmt::format("'{}': {} is packed, as weights of quantised training; a potential needs a model that was "
                      "trained without 'quantized_training'",
                      file_.file(), path));
    if (array.shape() != shape)
      throw InputError(fmt::format("'{}': {} has the shape ({}), but the model's keys require ({}); train it again",
                                   file_.file(), path, fmt::join(array.shape(), ", "), fmt::join(shape, ", ")));
    return array.read<std::vector<double>>();
  }

  /// Torch stores [out][in].
  MessageLinear linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = true) const {
    MessageLinear made{in, out, std::vector<double>(static_cast<std::size_t>(in * out)), {}};
    const auto given = read(name + ".weight", {out, in});
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < in; ++i) made.weights[i * out + o] = given[o * in + i];
    if (bias) made.bias = read(name + ".bias", {out});
    return made;
  }

 private:
  const io::File& file_;
};

double in_electronvolt(const std::string& unit, const std::string& path) {
  const auto known = parse_unit(unit);
  if (known && known->dimension == unit_of("eV").dimension) return conversion(unit, "eV");
  throw InputError(fmt::format(
      "'{}' gives energies in '{}', which is not an energy unit; set energy_unit in the data set of its training", path,
      unit));
}

void read_energies(MessageModel& out, const std::string& state, const std::string& path) {
  const auto in = nlohmann::json::parse(state);
  const double unit = in_electronvolt(in.at("unit").get<std::string>(), path);
  const auto reference = EnergyFit::from(in.at("reference").get<std::string>());
  if (reference.kind() != EnergyFit::Kind::atoms)
    throw InputError(
        fmt::format("'{}' corrects the fit 'reference: {}', which is no sum over atoms; train it with "
                    "reference: atoms",
                    path, name_of(reference.kind())));
  const std::vector<double> origin(3, 0.0);
  for (const auto number : in.at("elements").get<std::vector<std::int32_t>>()) {
    MoleculeView atom;
    atom.species = {number};
    atom.position = origin;
    out.symbols.emplace_back(element_symbol(number));
    out.free_energy.push_back(reference(atom) * unit);
  }
  out.scale = in.at("atom_deviation").get<double>() * unit;
}

MessageModel read_model(const io::File& file, const std::string& path) {
  if (!file.exists("/model") || !file.group("/model").has_attribute("type"))
    throw InputError(fmt::format("'{}' is no model file; give the model.h5 of a training of message_passing", path));
  const auto model = file.group("/model");
  if (const auto type = model.attribute<std::string>("type"); type != "message_passing")
    throw InputError(
        fmt::format("'{}' is a model of the network '{}'; this potential takes those of message_passing", path, type));
  const auto keys = deck::read<MessageKeys>(deck::parse(model.read<std::string>("config"), path + ":/model/config"));
  MessageModel out;
  out.source = path;
  read_energies(out, model.read<std::string>("state"), path);
  out.cutoff = keys.cutoff;
  out.width = keys.width;
  out.radial = keys.radial;
  out.vectors = keys.directions;
  const Arrays arrays(file);
  const std::int64_t w = out.width, said = out.said(), half = std::max<std::int64_t>(w / 2, 1);
  out.embedding = arrays.read("embedding.weight", {std::ssize(out.symbols), w});
  for (std::int64_t k = 0; k < keys.layers; ++k) {
    const std::string name = fmt::format("interactions.{}.", k);
    MessageLayer layer{
        arrays.linear(name + "sender_in", w, w),          arrays.linear(name + "sender_out", w, said),
        arrays.linear(name + "filter", out.radial, said), arrays.linear(name + "mix_in", (out.vectors ? 2 : 1) * w, w),
        arrays.linear(name + "mix_out", w, said),         {}};
    if (out.vectors) layer.vectors = arrays.linear(name + "vectors", w, 2 * w, false);
    out.layers.push_back(std::move(layer));
  }
  out.readout_in = arrays.linear("readout.in", w, half);
  out.readout_out = arrays.linear("readout.out", half, 1);
  return out;
}

}  // namespace

MessageModel MessageModel::load(const std::string& path) {
  MessageModel out;
  io::require_sound_model(path);
  io::reading(path, [&] { out = read_model(io::File::open(path), path); });
  return out;
}

double MessageModel::operations(double neighbours) const {
  const auto products = [](const MessageLinear& l) { return 2.0 * static_cast<double>(l.in * l.out); };
  double atom = products(readout_in) + products(readout_out), edge = 0.0;
  for (const auto& layer : layers) {
    atom += products(layer.sender_in) + products(layer.sender_out) + products(layer.mix_in) + products(layer.mix_out) +
            3.0 * products(layer.vectors);
    edge += products(layer.filter) + (vectors ? 24.0 : 2.0) * static_cast<double>(width);
  }
  // Energies, then their gradients: dense layers once more forward and once backward, filters and their derivatives.
  return 3.0 * atom + 4.0 * edge * neighbours;
}

}  // namespace cambium::graph
