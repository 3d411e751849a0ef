// Conversion of DeePMD-kit's training input (input.json) to a deck. Names and defaults follow its documentation
// "Training Parameters" (deepmd-kit 2 and 3).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

using Json = nlohmann::json;

/// A map of the input that records the keys read, so that the others can be reported.
class Section {
 public:
  Section(Json values, std::string path) : values_(std::move(values)), path_(std::move(path)) {
    if (!values_.is_null() && !values_.is_object())
      throw InputError(fmt::format("{}: expected a map with DeePMD-kit's keys", path_));
  }
  bool given() const { return !values_.is_null(); }
  bool has(const char* key) const { return values_.is_object() && values_.contains(key) && !values_.at(key).is_null(); }
  template <class T>
  T get(const char* key, T fallback) {
    read_.push_back(key);
    if (!has(key)) return fallback;
    try {
      return values_.at(key).get<T>();
    } catch (const Json::exception&) {
      throw InputError(fmt::format("{}.{}: cannot be read: {}", path_, key, values_.at(key).dump().substr(0, 60)));
    }
  }
  Json raw(const char* key) {
    read_.push_back(key);
    return has(key) ? values_.at(key) : Json();
  }
  Section part(const char* key) { return {raw(key), path_.empty() ? key : path_ + "." + key}; }
  /// Name under which a key with two names is given.
  const char* named(const char* key, const char* former) const { return !has(key) && has(former) ? former : key; }
  /// Rejects a key that would change the model: any value except null, false, zero or an empty list.
  void require_nothing(const char* key) {
    const Json value = raw(key);
    if (value.empty() || (value.is_boolean() && !value.get<bool>()) ||
        (value.is_number() && value.get<double>() == 0.0))
      return;
    throw InputError(fmt::format("{}.{}: {} specifies a model that is not supported; leave the key out", path_, key,
                                 value.dump().substr(0, 60)));
  }
  /// Rejects a `value` that would train another model, that is, one that is not in `allowed`.
  void require(const char* key, const std::string& value, std::initializer_list<std::string> allowed) const {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    throw InputError(fmt::format("{}.{}: '{}' is not known here; these are: {}", path_, key, value,
                                 fmt::join(allowed.begin(), allowed.end(), ", ")));
  }
  /// Paths of the keys that were not read, except comments.
  void rest(std::vector<std::string>& out) const {
    if (!values_.is_object()) return;
    for (const auto& [key, value] : values_.items())
      if (!key.starts_with("_") && std::find(read_.begin(), read_.end(), key) == read_.end())
        out.push_back(path_.empty() ? key : path_ + "." + key);
  }

 private:
  Json values_;
  std::string path_;
  std::vector<std::string> read_;
};

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) quoted.push_back("\"" + text + "\"");
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

/// A single system, or a folder or HDF5 file of systems, may be given without a list.
std::vector<std::string> systems_of(Section& data) {
  const Json value = data.raw("systems");
  if (value.is_string()) return systems_at(value.get<std::string>());
  std::vector<std::string> out;
  for (const auto& one : value)
    if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

/// A flag of which only one value is supported.
void require_flag(Section& section, const char* key, bool fallback, bool wanted) {
  const char* const names[] = {"false", "true"};
  section.require(key, names[section.get(key, fallback)], {names[wanted]});
}

/// Keys of a network of type embeddings, DeePMD-kit's section model.type_embedding.
std::vector<std::string> type_embedding_keys(Section& types) {
  types.require("activation_function", types.get<std::string>("activation_function", "tanh"), {"tanh"});
  require_flag(types, "use_econf_tebd", false, false);
  types.raw("seed");
  types.raw("precision");
  std::vector<std::string> keys = {
      fmt::format("type_embedding: [{}]", fmt::join(types.get<std::vector<int>>("neuron", {8}), ", "))};
  if (types.get("resnet_dt", false)) keys.push_back("tebd_resnet_dt: true");
  if (types.get("use_tebd_bias", false)) keys.push_back("use_tebd_bias: true");
  return keys;
}

/// Keys of se_atten; the type embedding is part of the descriptor, or (TensorFlow) a section next to it.
std::vector<std::string> species_keys(Section& descriptor, Section& types) {
  require_flag(descriptor, "set_davg_zero", true, true);
  for (const char* key : {"attn_mask", "use_econf_tebd", "stripped_type_embedding"})
    require_flag(descriptor, key, false, false);
  descriptor.require("lmax", std::to_string(descriptor.get("lmax", 1)), {"1"});
  require_flag(descriptor, "trainable_ln", true, true);
  descriptor.require("ln_eps", fmt::format("{:g}", descriptor.get("ln_eps", 1e-5)), {"1e-05"});
  std::vector<std::string> keys = {
      fmt::format("attn_layer: {}", descriptor.get("attn_layer", 2)),
      fmt::format("attn: {}", descriptor.get("attn", 128)),
      fmt::format("attn_dotr: {}", descriptor.get("attn_dotr", true)),
      fmt::format("normalize: {}", descriptor.get("normalize", true)),
      fmt::format("smooth_type_embedding: {}", descriptor.get("smooth_type_embedding", false)),
      fmt::format("scaling_factor: {}", descriptor.get("scaling_factor", 1.0))};
  if (const Json temperature = descriptor.raw("temperature"); temperature.is_number())
    keys.push_back(fmt::format("temperature: {}", temperature.get<double>()));
  if (types.given()) {
    for (const std::string& key : type_embedding_keys(types)) keys.push_back(key);
  } else {
    keys.push_back(fmt::format("tebd_dim: {}", descriptor.get("tebd_dim", 8)));
    if (descriptor.get("use_tebd_bias", false)) keys.push_back("use_tebd_bias: true");
  }
  if (!descriptor.get("concat_output_tebd", true)) keys.push_back("concat_output_tebd: false");
  return keys;
}

/// Keys of one descriptor, each after a comma or on its own line; its precision is that of the network.
std::vector<std::string> descriptor_of(Section& descriptor, Section& types, std::vector<std::string>& notes,
                                       std::string& precision) {
  const std::string type = descriptor.get<std::string>("type", "");
  descriptor.require("type", type,
                     {"se_e2_a", "se_a", "se_e2_r", "se_r", "se_e3", "se_at", "se_a_3be", "se_t", "se_atten", "dpa1"});
  for (const char* key : {"exclude_types", "env_protection"}) descriptor.require_nothing(key);
  const bool radial = type == "se_e2_r" || type == "se_r", species = type == "se_atten" || type == "dpa1";
  const bool full = type == "se_e2_a" || type == "se_a" || species;
  if (types.given() && !full)
    throw InputError(fmt::format(
        "model.type_embedding: with descriptor {} it is not known here; se_e2_a and se_atten take it", type));
  if (full) descriptor.require("tebd_input_mode", descriptor.get<std::string>("tebd_input_mode", "concat"), {"concat"});
  descriptor.require("activation_function", descriptor.get<std::string>("activation_function", "tanh"), {"tanh"});
  if (descriptor.get("resnet_dt", false))
    notes.push_back("model.descriptor.resnet_dt: true is not known here, taken as false");
  precision = descriptor.get<std::string>("precision", "default");
  descriptor.require("precision", precision, {"default", "float64", "float32"});
  descriptor.raw("seed");
  std::vector<std::string> keys = {fmt::format("descriptor: {}", radial    ? "se_e2_r"
                                                                 : species ? "se_atten"
                                                                 : full    ? "se_e2_a"
                                                                           : "se_e3"),
                                   fmt::format("rcut: {} angstrom", descriptor.get("rcut", 6.0)),
                                   fmt::format("rcut_smth: {} angstrom", descriptor.get("rcut_smth", 0.5))};
  if (const Json sel = descriptor.raw("sel"); sel.is_array())
    keys.push_back(fmt::format("sel: [{}]", fmt::join(sel.get<std::vector<int>>(), ", ")));
  else if (species && sel.is_number_integer())
    keys.push_back(fmt::format("sel: [{}]", sel.get<int>()));
  keys.push_back(
      fmt::format("neuron: [{}]", fmt::join(descriptor.get<std::vector<int>>("neuron", {10, 20, 40}), ", ")));
  if (full)
    keys.push_back(fmt::format("axis_neuron: {}", descriptor.get(descriptor.named("axis_neuron", "n_axis_neuron"), 4)));
  if (full || radial) keys.push_back(fmt::format("type_one_side: {}", descriptor.get("type_one_side", false)));
  if (species)
    for (const std::string& key : species_keys(descriptor, types)) keys.push_back(key);
  else if (types.given())
    for (const std::string& key : type_embedding_keys(types)) keys.push_back(key);
  return keys;
}

/// Lines of a descriptor, or of a hybrid's list.
std::string descriptors_of(Section& descriptor, Section& types, std::vector<std::string>& notes,
                           std::vector<std::string>& rest, std::string& precision) {
  if (descriptor.get<std::string>("type", "") != "hybrid") {
    const auto keys = descriptor_of(descriptor, types, notes, precision);
    descriptor.rest(rest);
    return fmt::format("        {}\n", fmt::join(keys, "\n        "));
  }
  std::string text = "        hybrid:\n";
  const Json list = descriptor.raw("list");
  for (std::size_t k = 0; k < list.size(); ++k) {
    Section one(list[k], fmt::format("model.descriptor.list[{}]", k));
    std::string own;
    text += fmt::format("          - {{{}}}\n", fmt::join(descriptor_of(one, types, notes, own), ", "));
    one.rest(rest);
    if (k > 0 && own != precision)
      notes.push_back("model.descriptor.list: one precision serves all descriptors here, taken as float64");
    precision = k == 0 || own == precision ? own : "default";
  }
  descriptor.rest(rest);
  return text;
}

std::string network_of(Section& model, std::vector<std::string>& notes, std::vector<std::string>& rest) {
  Section descriptor = model.part("descriptor"), fitting = model.part("fitting_net"),
          embedding = model.part("type_embedding");
  fitting.require("activation_function", fitting.get<std::string>("activation_function", "tanh"), {"tanh"});
  fitting.require("type", fitting.get<std::string>("type", "ener"), {"ener"});
  fitting.get<std::string>("precision", "");
  fitting.raw("seed");
  fitting.require_nothing("atom_ener");
  for (const char* key : {"use_srtab", "pair_exclude_types", "atom_exclude_types", "spin", "modifier"})
    model.require_nothing(key);
  std::string text = "        type: deep_potential\n", precision;
  const auto types = model.get<std::vector<std::string>>("type_map", {});
  if (!types.empty()) text += fmt::format("        type_map: [{}]\n", fmt::join(types, ", "));
  text += descriptors_of(descriptor, embedding, notes, rest, precision);
  text +=
      fmt::format("        fitting: [{}]\n",
                  fmt::join(fitting.get<std::vector<int>>(fitting.named("neuron", "n_neuron"), {120, 120, 120}), ", "));
  text += fmt::format("        resnet_dt: {}\n", fitting.get("resnet_dt", true));
  for (const char* key : {"numb_fparam", "numb_aparam"})
    if (const int n = fitting.get(key, 0); n > 0) text += fmt::format("        {}: {}\n", key, n);
  if (precision == "float32") text += "        precision: float32\n";
  fitting.rest(rest);
  embedding.rest(rest);
  return text;
}

std::string loss_of(Section& loss) {
  loss.require("type", loss.get<std::string>("type", "ener"), {"ener"});
  std::vector<std::string> keys;
  const std::pair<const char*, double> defaults[] = {{"start_pref_e", 0.02}, {"limit_pref_e", 1.0},
                                                     {"start_pref_f", 1000}, {"limit_pref_f", 1.0},
                                                     {"start_pref_v", 0.0},  {"limit_pref_v", 0.0}};
  for (const auto& [key, value] : defaults) keys.push_back(fmt::format("{}: {}", key, loss.get(key, value)));
  if (loss.get("use_huber", false))
    for (const std::string& key :
         {std::string("use_huber: true"), fmt::format("huber_delta: {}", loss.get("huber_delta", 0.01))})
      keys.push_back(key);
  return fmt::format("        loss: {{{}}}\n", fmt::join(keys, ", "));
}

/// `auto` and `auto:N`: the smallest batch with at least N atoms, which depends on the data. A list has one value for
/// each system.
std::string batch_of(Section& data, std::vector<std::string>& notes) {
  Json size = data.raw("batch_size");
  if (size.is_array() && !size.empty() &&
      std::all_of(size.begin(), size.end(), [&](const Json& s) { return s == size[0]; }))
    size = Json(size[0]);
  if (size.is_number_integer()) return fmt::format("{}", size.get<int>());
  notes.push_back(
      fmt::format("training.training_data.batch_size: {} is one frame here; give as many as hold the atoms that "
                  "are meant",
                  size.is_null() ? "auto" : size.dump()));
  return "1";
}

/// Moves the flat keys of an input of version 0 into the sections of version 1.
Json in_sections(const Json& flat, const std::string& path) {
  if (!flat.value("use_smooth", false))
    throw InputError(fmt::format("{}: use_smooth is not true: the descriptor loc_frame is not known here", path));
  Json out = {{"model", {{"descriptor", {{"type", "se_a"}}}, {"fitting_net", Json::object()}}},
              {"learning_rate", Json::object()},
              {"loss", Json::object()},
              {"training", Json::object()}};
  Json &descriptor = out["model"]["descriptor"], &fitting = out["model"]["fitting_net"];
  for (const auto& [key, value] : flat.items()) {
    if (key == "use_smooth" || key.starts_with("_")) continue;
    if (key == "sel_a" || key == "filter_neuron" || key == "filter_resnet_dt")
      descriptor[key == "sel_a" ? "sel" : key.substr(7)] = value;
    else if (key == "rcut" || key == "rcut_smth" || key == "axis_neuron" || key == "n_axis_neuron")
      descriptor[key] = value;
    else if (key == "fitting_neuron" || key == "fitting_resnet_dt")
      fitting[key.substr(8)] = value;
    else if (key == "n_neuron" || (key == "resnet_dt" && !flat.contains("fitting_resnet_dt")))
      fitting[key] = value;
    else
      out[key.ends_with("_lr") || key.starts_with("decay_") ? "learning_rate"
          : key.find("_pref_") != std::string::npos         ? "loss"
                                                            : "training"][key] = value;
  }
  if (!descriptor.contains("rcut_smth") && flat.contains("rcut")) descriptor["rcut_smth"] = flat["rcut"];
  return out;
}

/// In version 1 the keys of the data are in `training` itself.
Section training_data_of(Section& training) {
  if (training.has("training_data") || !training.has("systems")) return training.part("training_data");
  Json data = Json::object();
  for (const char* key : {"systems", "batch_size"})
    if (const Json value = training.raw(key); !value.is_null()) data[key] = value;
  return {std::move(data), "training"};
}

/// By its final value or, in version 1, by the factor of one decay; DeePMD-kit decays more often if the training is
/// shorter than the steps between two decays.
std::string rate_of(Section& rate, std::int64_t steps) {
  rate.require("type", rate.get<std::string>("type", "exp"), {"exp"});
  const double start = rate.get("start_lr", 1e-3);
  double stop = rate.get("stop_lr", rate.has("stop_lr_ratio") ? start * rate.get("stop_lr_ratio", 1.0) : 1e-8);
  auto every = rate.get<std::int64_t>("decay_steps", 5000);
  if (rate.has("decay_rate") && steps > 0)
    stop = start * std::pow(rate.get("decay_rate", 0.95), static_cast<double>(steps) / static_cast<double>(every));
  if (steps > 0 && every >= steps) every = steps / 10 > 100 ? 100 : steps / 100 + 1;
  return fmt::format("{{type: exponential, start: {}, stop: {}, every: {}}}", start, stop, every);
}

}  // namespace

std::string deck_of_input(const std::string& path) {
  Json json;
  try {
    json = Json::parse(text_of_file(path));
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is no JSON: {}", path, error.what()));
  }
  std::vector<std::string> notes, rest;
  if (json.is_object() && !json.contains("model") && json.contains("use_smooth")) json = in_sections(json, path);
  Section root(json, "");
  Section model = root.part("model"), rate = root.part("learning_rate"), loss = root.part("loss"),
          training = root.part("training");
  Section data = training_data_of(training), validation = training.part("validation_data");
  const auto systems = systems_of(data), held_out = systems_of(validation);
  if (systems.empty())
    throw InputError(fmt::format("{}: training.training_data.systems names no folder of data", path));
  const std::string network = network_of(model, notes, rest), weights = loss_of(loss);
  const auto steps = training.get<std::int64_t>(training.named("numb_steps", "stop_batch"), 0);
  const auto epochs = training.get(training.named("numb_epoch", "num_epoch"), 0.0);
  if (steps < 1 && epochs <= 0.0)
    throw InputError(fmt::format("{}: training.numb_steps is missing; give the number of steps", path));
  const auto shown = training.get<std::int64_t>("disp_freq", 1000),
             saved = training.get<std::int64_t>("save_freq", 1000);
  const auto seed = training.raw("seed");
  training.raw("disp_file");
  validation.raw("batch_size");
  for (const char* key : {"numb_btch", "numb_batch"}) validation.raw(key);
  std::string deck = fmt::format(
      "run: {{name: {}, seed: {}}}\n\nplugins: [deepmd]\n\nstages:\n  - train:\n      network:\n{}{}",
      std::filesystem::path(path).stem().string(), seed.is_number() ? seed.get<int>() : 1, network, weights);
  deck += fmt::format("      dataset: {{type: deepmd_npy, systems: {}}}\n", list_of(systems));
  if (!held_out.empty())
    deck += fmt::format("      validation: {{type: deepmd_npy, systems: {}}}\n", list_of(held_out));
  deck += fmt::format("      batch: {}\n      {}\n", batch_of(data, notes),
                      steps > 0 ? fmt::format("steps: {}", steps) : fmt::format("epochs: {}", epochs));
  deck += fmt::format("      learning_rate: {}\n", rate_of(rate, steps));
  if (!held_out.empty()) deck += fmt::format("      validate: {{every: {}, keep_best: false}}\n", shown);
  deck += fmt::format("      log: {}\n      checkpoint: {{every: {}}}\n", shown, saved);
  for (const Section* section : {&root, &model, &rate, &loss, &training, &data, &validation}) section->rest(rest);
  std::string head = fmt::format("# Made of {} by cambium deepmd convert-input.\n", path);
  for (const auto& note : notes) head += fmt::format("# {}.\n", note);
  for (const auto& key : rest) head += fmt::format("# {}: not taken over.\n", key);
  return head + deck;
}

std::string convert_input(const ConvertOptions& options) {
  const std::string deck = deck_of_input(options.input);
  if (options.output.empty()) return deck;
  io::write_file_atomically(options.output, deck);
  std::string text;
  for (std::size_t from = 0, end; deck.compare(from, 2, "# ") == 0; from = end + 1) {
    end = deck.find('\n', from);
    text += deck.substr(from + 2, end - from - 1);
  }
  return text + fmt::format("{} -> {}\n", options.input, options.output);
}

}  // namespace cambium::deepmd
