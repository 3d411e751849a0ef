// Statistics of a network as JSON text, in full precision.
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"

namespace cambium::deepmd {

std::string DeepPotentialNetwork::state() const {
  nlohmann::json out;
  out["type_map"] = shape_.type_map;
  out["sel"] = shape_.sel;
  out["mean"] = shape_.mean;
  out["deviation"] = shape_.deviation;
  out["fitting_bias"] = shape_.fitting_bias;
  out["output_bias"] = shape_.output_bias;
  out["most_neighbours"] = most_neighbours_;
  out["min_distance"] = shape_.min_distance;
  out["atoms"] = atoms_;
  out["pairs"] = pairs_;
  for (const auto& [name, input] : {std::pair{"fparam", &shape_.fparam}, std::pair{"aparam", &shape_.aparam}})
    if (input->size > 0) out[name] = {{"mean", input->mean}, {"inverse_deviation", input->inverse_deviation}};
  for (const DeepPotentialModel& part : shape_.parts)
    out["parts"].push_back({{"sel", part.sel}, {"mean", part.mean}, {"deviation", part.deviation}});
  return out.dump();
}

void DeepPotentialNetwork::restore(const std::string& state) {
  try {
    const auto in = nlohmann::json::parse(state);
    params_.type_map = in.at("type_map").get<std::vector<std::string>>();
    if (start_) {
      shape_ = *start_;
      apply_ranks(shape_, false);
    } else
      build_shape();
    in.at("sel").get_to(shape_.sel);
    in.at("mean").get_to(shape_.mean);
    in.at("deviation").get_to(shape_.deviation);
    in.at("fitting_bias").get_to(shape_.fitting_bias);
    in.at("output_bias").get_to(shape_.output_bias);
    in.at("min_distance").get_to(shape_.min_distance);
    for (const auto& [name, input] : {std::pair{"fparam", &shape_.fparam}, std::pair{"aparam", &shape_.aparam}})
      if (input->size > 0) {
        in.at(name).at("mean").get_to(input->mean);
        in.at(name).at("inverse_deviation").get_to(input->inverse_deviation);
      }
    for (std::size_t k = 0; k < shape_.parts.size(); ++k) {
      const auto& part = in.at("parts").at(k);
      part.at("sel").get_to(shape_.parts[k].sel);
      part.at("mean").get_to(shape_.parts[k].mean);
      part.at("deviation").get_to(shape_.parts[k].deviation);
    }
    if (in.contains("most_neighbours"))
      in.at("most_neighbours").get_to(most_neighbours_);  // not in states of earlier versions
    if (in.contains("atoms")) in.at("atoms").get_to(atoms_);
    if (in.contains("pairs")) in.at("pairs").get_to(pairs_);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(std::string("the stored state of the deep_potential is damaged: ") + error.what());
  }
  make_work();
}

}  // namespace cambium::deepmd
