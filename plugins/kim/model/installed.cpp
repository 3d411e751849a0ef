#include "plugins/kim/model/installed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <KIM_CollectionItemType.hpp>
#include <KIM_Collections.hpp>

#include <algorithm>
#include <cctype>
#include <memory>

#include "core/base/error.hpp"
#include "plugins/kim/model/quiet.hpp"

namespace cambium::kim {
namespace {

struct Collections {
  KIM::Collections* list = nullptr;
  Collections() {
    if (KIM::Collections::Create(&list) != 0) throw InternalError("the KIM API cannot read its collections of models");
  }
  ~Collections() { KIM::Collections::Destroy(&list); }
  Collections(const Collections&) = delete;
  Collections& operator=(const Collections&) = delete;

  std::vector<std::string> names(KIM::CollectionItemType type) {
    std::vector<std::string> out;
    int count = 0;
    list->CacheListOfItemNamesByType(type, &count);
    for (int k = 0; k < count; ++k) {
      const std::string* name = nullptr;
      if (list->GetItemNameByType(k, &name) == 0) out.push_back(*name);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
};

/// "MO_123629422045_005" of "EAM_Dynamo_..._Al__MO_123629422045_005"; empty if there is none.
std::string code_of(const std::string& name) {
  const auto at = name.rfind("__");
  return at == std::string::npos ? "" : name.substr(at + 2);
}

/// True if the name is the wanted one and a version of three digits ("..._005").
bool is_version_of(const std::string& wanted, const std::string& name) {
  constexpr std::size_t digits = 3;
  return name.size() == wanted.size() + 1 + digits && name.starts_with(wanted + "_") &&
         std::all_of(name.end() - digits, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_code_of(const std::string& wanted, const std::string& name) {
  const auto code = code_of(name);
  return !code.empty() && (code == wanted || code.starts_with(wanted + "_") || is_version_of(wanted, name));
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Names that contain the wanted one, followed by those with the longest common prefix.
std::vector<std::string> similar(const std::string& wanted, const std::vector<std::string>& names) {
  constexpr std::size_t shown = 4;
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& name : names) {
    const auto a = lower(wanted), b = lower(name);
    const auto same = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    found.emplace_back(b.find(a) != std::string::npos ? a.size() + 1 : same, name);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> out;
  for (std::size_t k = 0; k < std::min(shown, found.size()); ++k) out.push_back(found[k].second);
  return out;
}

}  // namespace

std::vector<std::string> installed_models() {
  const Quiet quiet;
  Collections collections;
  return collections.names(KIM::COLLECTION_ITEM_TYPE::portableModel);
}

std::string installed_model(const std::string& wanted) {
  const Quiet quiet;
  Collections collections;
  const auto models = collections.names(KIM::COLLECTION_ITEM_TYPE::portableModel);
  if (std::find(models.begin(), models.end(), wanted) != models.end()) return wanted;
  std::vector<std::string> coded;
  for (const auto& name : models)
    if (is_code_of(wanted, name)) coded.push_back(name);
  if (coded.size() == 1) return coded[0];
  if (coded.size() > 1)
    throw InputError(fmt::format("{} is the name or code of several KIM models: {}; give one of them", wanted,
                                 fmt::join(coded, ", ")));
  for (const auto& name : collections.names(KIM::COLLECTION_ITEM_TYPE::simulatorModel))
    if (name == wanted || is_code_of(wanted, name))
      throw InputError(
          fmt::format("{} is a simulator model, a script for another program such as LAMMPS; only "
                      "portable models (MO_...) run here",
                      name));
  const auto drivers = collections.names(KIM::COLLECTION_ITEM_TYPE::modelDriver);
  if (std::find(drivers.begin(), drivers.end(), wanted) != drivers.end())
    throw InputError(
        fmt::format("{} is a model driver, a formula without parameters; give a model (MO_...) that "
                    "uses it",
                    wanted));
  if (models.empty())
    throw InputError(
        "no KIM models are installed (Debian package: openkim-models; single ones: "
        "kim-api-collections-management install user NAME)");
  throw InputError(
      fmt::format("no KIM model {} is installed; among the {} that are: {}. Install it by "
                  "kim-api-collections-management install user NAME",
                  wanted, models.size(), fmt::join(similar(wanted, models), ", ")));
}

}  // namespace cambium::kim
