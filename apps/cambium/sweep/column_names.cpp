#include "apps/cambium/sweep/column_names.hpp"

#include <algorithm>
#include <iterator>

namespace cambium {

namespace {

struct FormerLabel {
  std::string_view key, column;
};

constexpr FormerLabel former_labels[] = {
    {"balance", "balance_the_busiest_rank_has"},
    {"directions", "which_spread_over"},
    {"force_deviation_max", "committee_of_an_atom_s_force_deviates_by"},
    {"force_deviation_mean", "committee_of_on_average"},
    {"largest_div_u", "largest_div_u_at_the_last_line"},
    {"load_busiest_rank", "load_the_busiest_rank_worked"},
    {"load_lost", "load_which_cost_the_others"},
    {"load_waiting", "load_messages_and_waiting_took"},
    {"messages", "messages_a_rank_sends_at_most"},
    {"nusselt_viscous", "sqrt_ra_pr_eps"},
    {"received", "messages_receives"},
    {"steps_begun_again", "steps_were_begun_again_because"},
    {"vectors", "vectors_of_components"},
    {"waited_for_data", "read_from_storage_waited"},
};

}  // namespace

std::string column_of_result(std::string_view key) {
  const auto at =
      std::find_if(std::begin(former_labels), std::end(former_labels), [&](const auto& f) { return f.key == key; });
  return std::string(at == std::end(former_labels) ? key : at->column);
}

}  // namespace cambium
