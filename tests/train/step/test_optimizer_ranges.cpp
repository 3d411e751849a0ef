// Coefficients of every optimizer within the ranges in which it is defined: decay rates and momenta in [0, 1), positive
// terms of denominators, weight decay of 0 or more.
#include <algorithm>
#include <map>

#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/register.hpp"
#include "core/train/step/learning_rate.hpp"
#include "core/train/tables/table_keys.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

struct Optimizers : testing::World {
  Registry registry;
  Optimizers() {
    register_training(registry);
    context.registry = &registry;
  }
  template <class T>
  bool takes(const std::string& type, const std::string& key, const std::string& value) {
    try {
      registry.make<T>(type, deck::parse("{" + key + ": " + value + "}", "test"), context);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
};

struct Range {
  std::vector<std::string> inside, outside;
};

const Range rate_of_decay{{"0", "0.5", "0.99999999"}, {"1", "-0.1", "1.5", ".nan"}};
const Range positive{{"1e-30", "1"}, {"0", "-1", ".nan"}};
const Range not_negative{{"0", "3"}, {"-1e-9", ".nan"}};
const Range two_rates{{"[0, 0]", "[0.9, 0.99999999]"}, {"[1, 0.5]", "[0.5, 1]", "[-0.1, 0.5]", "[0.5, .nan]"}};

const std::map<std::string, Range> ranges{
    {"momentum", rate_of_decay},     {"beta1", rate_of_decay},      {"beta2", rate_of_decay}, {"alpha", rate_of_decay},
    {"shampoo_beta", rate_of_decay}, {"betas", two_rates},          {"eps", positive},        {"epsilon", positive},
    {"trust_coefficient", positive}, {"weight_decay", not_negative}};

}  // namespace

TEST_CASE("every optimizer takes the coefficients of its definition, and no others") {
  Optimizers world;
  int tried = 0;
  for (const auto& type : world.registry.names(Optimizer::kind)) {
    const auto& schema = world.registry.find(Optimizer::kind, type)->schema;
    for (const auto& [key, range] : ranges) {
      if (!schema.find(key)) continue;
      ++tried;
      INFO(type << "." << key);
      for (const auto& value : range.inside) CHECK(world.takes<Optimizer>(type, key, value));
      for (const auto& value : range.outside) CHECK_FALSE(world.takes<Optimizer>(type, key, value));
    }
  }
  CHECK(tried > 30);
}

TEST_CASE("a plateau lowers the learning rate, and by less than to zero") {
  Optimizers world;
  for (const char* value : {"0.001", "0.999"})
    CHECK(world.takes<LearningRate>("reduce_on_plateau", "start: 1, factor", value));
  for (const char* value : {"0", "1", "-1"})
    CHECK_FALSE(world.takes<LearningRate>("reduce_on_plateau", "start: 1, factor", value));
}

TEST_CASE("rows of embedding tables take decay rates up to 1") {
  const auto takes = [](const std::string& keys) {
    try {
      deck::read<TableKeys>(deck::parse(keys, "test"));
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  for (const std::string key : {"beta1", "beta2"}) {
    CHECK(takes("{" + key + ": 0.99999999}"));
    CHECK(takes("{" + key + ": 0}"));
    CHECK_FALSE(takes("{" + key + ": 1}"));
    CHECK_FALSE(takes("{" + key + ": -0.1}"));
  }
}
