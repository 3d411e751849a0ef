#include "plugins/torch_potential/archive/archive_facts.hpp"

#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"

namespace cambium::torch_potential {

using Family = ArchiveFacts::Family;

std::string name_of(Family family) {
  switch (family) {
    case Family::mace:
    case Family::mace_lammps:
      return "MACE";
    case Family::nequip:
      return "NequIP";
    case Family::allegro:
      return "Allegro";
    default:
      return "TorchScript";
  }
}

torch::jit::ExtraFilesMap known_extra_files() {
  return {{"r_max", ""},          {"type_names", ""},      {"model_dtype", ""}, {"default_dtype", ""}, {"config", ""},
          {"nequip_version", ""}, {"allegro_version", ""}, {"num_layers", ""},  {"num_types", ""},     {"species", ""}};
}

namespace {

/// Extra files are texts; some writers terminate them with a zero byte.
std::string text_of(const torch::jit::ExtraFilesMap& extra, const std::string& name) {
  const auto found = extra.find(name);
  return found == extra.end() ? std::string() : std::string(found->second.c_str());
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// A buffer of the module or of one of its submodules.
std::optional<at::Tensor> buffer(const torch::jit::Module& module, const std::string& name) {
  for (const auto& one : module.named_buffers(true))
    if (one.name == name || one.name.ends_with("." + name)) return one.value.to(at::kCPU);
  return std::nullopt;
}

bool is_float32(const torch::jit::Module& module, const torch::jit::ExtraFilesMap& extra) {
  for (const char* name : {"model_dtype", "default_dtype"}) {
    const std::string said = text_of(extra, name);
    if (!said.empty()) return said == "float32";
  }
  for (const auto& weight : module.named_parameters(true))
    if (weight.value.is_floating_point()) return weight.value.scalar_type() == at::kFloat;
  return false;
}

Family family_of(const torch::jit::Module& module, const torch::jit::ExtraFilesMap& extra, const std::string& path) {
  const auto method = module.find_method("forward");
  if (module.find_method("forward_lower"))
    throw InputError(
        fmt::format("{}: an archive of DeePMD-kit; its `dp convert-backend` makes a .dp file, which the "
                    "potential deep_potential reads without Torch",
                    path));
  const auto dictionary = c10::DictType::create(c10::StringType::get(), c10::TensorType::get());
  if (!method || method->function().getSchema().arguments().size() < 2 ||
      !method->function().getSchema().arguments()[1].type()->isSubtypeOf(*dictionary))
    throw InputError(fmt::format(
        "{}: has no method forward(Dict[str, Tensor]) as the archives of MACE, NequIP and Allegro do", path));
  if (method->function().getSchema().arguments().size() > 2) return Family::mace_lammps;
  const std::string config = text_of(extra, "config");
  if (!text_of(extra, "allegro_version").empty() || config.find("allegro.") != std::string::npos)
    return Family::allegro;
  if (!text_of(extra, "nequip_version").empty()) return Family::nequip;
  return buffer(module, "num_interactions") ? Family::mace : Family::unknown;
}

std::optional<int> layers_of(const torch::jit::Module& module, const torch::jit::ExtraFilesMap& extra, Family family) {
  if (family == Family::allegro) return 1;
  if (const auto count = buffer(module, "num_interactions")) return count->item<int>();
  if (const auto said = text_of(extra, "num_layers"); !said.empty()) return std::stoi(said);
  std::smatch match;
  const std::string config = text_of(extra, "config");
  static const std::regex line("(?:^|\n)num_layers: *([0-9]+)");
  if (std::regex_search(config, match, line)) return std::stoi(match[1]);
  return std::nullopt;
}

}  // namespace

ArchiveFacts facts_of(const torch::jit::Module& module, const torch::jit::ExtraFilesMap& extra,
                      const std::string& path) {
  ArchiveFacts facts;
  facts.family = family_of(module, extra, path);
  facts.float32 = is_float32(module, extra);
  facts.layers = layers_of(module, extra, facts.family);
  facts.species = words(text_of(extra, "type_names"));
  if (const auto said = text_of(extra, "r_max"); !said.empty()) facts.cutoff = std::stod(said);
  if (!facts.cutoff)
    if (const auto range = buffer(module, "r_max")) facts.cutoff = range->item<double>();
  if (const auto numbers = buffer(module, "atomic_numbers"); numbers && facts.species.empty())
    for (std::int64_t k = 0; k < numbers->numel(); ++k)
      facts.species.emplace_back(element_symbol(numbers->view({-1})[k].item<int>()));
  return facts;
}

}  // namespace cambium::torch_potential
