#include "core/train/tables/table_keys.hpp"

namespace cambium::train {

void RowCodeKeys::describe(deck::Describe<RowCodeKeys>& d) {
  d("bound", &RowCodeKeys::bound,
    "largest error of a value of a row; that of the most sensitive tables if the bounds differ")
      .positive()
      .def(1e-2);
  d("by", &RowCodeKeys::by,
    "same: one bound; homogenisation: 1, 3 or 5 bounds for a table, the less the more of its rows become equal by "
    "the first")
      .options({{"same", By::same}, {"homogenisation", By::homogenisation}})
      .def(By::same);
  d("start", &RowCodeKeys::start,
    "initial error bound as a multiple of the final one, which is reached after `steps` steps")
      .at_least(1.0)
      .def(1.0);
  d("steps", &RowCodeKeys::steps, "number of steps over which the error bounds decrease").positive().def(1000);
  d("bounds", &RowCodeKeys::bounds,
    "error bounds of single tables by name, instead of `bound` and `by`; the stage choose_row_bounds finds them from "
    "held-out AUC")
      .def({})
      .example("{c3: 0.08}");
  d("gradients", &RowCodeKeys::gradients,
    "largest error of a gradient of a row, relative to the largest absolute gradient of its table in the step; without "
    "it gradients are sent uncompressed")
      .positive()
      .example("0.01");
}

void TableKeys::describe(deck::Describe<TableKeys>& d) {
  d("sharding", &TableKeys::divide,
    "sharding of embedding tables: rows (row-wise, round-robin over ranks) or whole (table-wise, by size). Table-wise "
    "sharding sends one sum per bag, row-wise one row per member of a bag")
      .formerly("divide")
      .options({{"rows", Divide::rows}, {"whole", Divide::whole}})
      .def(Divide::rows);
  d("deduplicate", &TableKeys::deduplicate,
    "deduplication: a row that a rank needs several times in a step is sent once, and its gradients are summed before "
    "they are sent; lossless; default: true with sharding: rows, but false in ordered reduction");
  d("codec", &TableKeys::code, "codec of rows that a step fetches, within error bounds, and of their gradients")
      .formerly("code")
      .example("{bound: 0.01}");
  d("optimizer", &TableKeys::optimizer,
    "optimizer of the rows used in a step: sgd; adagrad; adam with one second moment per row; or split_sgd, in which "
    "the network reads bfloat16 rows and the lower halves of their float32 values are stored alongside")
      .options({{"sgd", Rule::sgd}, {"adagrad", Rule::adagrad}, {"adam", Rule::adam}, {"split_sgd", Rule::split_sgd}})
      .def(Rule::adagrad);
  d("learning_rate_scale", &TableKeys::rate, "factor on the learning rate for embedding tables")
      .formerly("rate")
      .positive()
      .def(1.0);
  d("decay", &TableKeys::decay,
    "weight decay of the rows used in a step, times their learning rate, so that rare rows stay as small as frequent "
    "ones")
      .non_negative()
      .def(0.0);
  d("epsilon", &TableKeys::epsilon, "constant added to the root of the squared gradients (adagrad, adam)")
      .positive()
      .def(1e-8);
  d("beta1", &TableKeys::beta1, "decay rate of the first-moment estimate, adam only")
      .non_negative()
      .less_than(1.0)
      .def(0.9);
  d("beta2", &TableKeys::beta2, "decay rate of the second-moment estimate, adam only")
      .non_negative()
      .less_than(1.0)
      .def(0.999);
}

}  // namespace cambium::train
