// The page of `workbench serve`, in which a recipe is edited: the template of viz/page with the data for its start.
#pragma once

#include <string>
#include <string_view>

namespace workbench {

/// The whole page. `nonce`: the nonce of the page's scripts, for its content security policy; `document` is JSON.
[[nodiscard]] std::string live_page_html(std::string_view title, std::string_view nonce, std::string_view document);

}  // namespace workbench
