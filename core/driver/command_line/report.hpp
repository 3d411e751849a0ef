#pragma once
#include <string>

namespace cambium {

/// Writes one self-contained HTML page about a run with apps/python/report.py, which needs a python3 with numpy, h5py
/// and matplotlib: $CAMBIUM_PYTHON, else the first of python3 and /usr/bin/python3 that has them. `page` empty:
/// RUN/report.html. Called on one rank. Throws InputError when there is no such Python or no such run; the message says
/// what to install.
void write_report(const std::string& run, const std::string& page);

}  // namespace cambium
