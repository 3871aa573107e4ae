// What the live page knows about recipes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "frontends/serve/live_json.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {

using Json = nlohmann::json;

TEST_SUITE("live page") {
    TEST_CASE("errors come in the order of their places") {
        const Json sorted = json_of(std::vector<RecipeProblem>{
            {{.line = 5, .column = 7}, "third"}, {{.line = 2, .column = 9}, "second"}, {{.line = 2, .column = 1}, "first"}});
        REQUIRE(sorted.size() == 3);
        CHECK(sorted[0]["message"] == "first");
        CHECK(sorted[1]["message"] == "second");
        CHECK(sorted[2]["message"] == "third");
    }

    TEST_CASE("the page knows the limits, defaults and units of parameters") {
        const Json known = json_of(catalogue());
        const auto named = [](const Json& list, const std::string& name) {
            const auto found = std::find_if(list.begin(), list.end(), [&](const Json& each) { return each["name"] == name; });
            REQUIRE(found != list.end());
            Json one = *found;
            for (const char* text : {"help", "accepts"}) CHECK(one[text].get<std::string>().size() > 5);
            for (const char* text : {"help", "accepts"}) one.erase(text);
            return one;
        };
        const auto layout = std::find_if(known["layouts"].begin(), known["layouts"].end(),
                                         [](const Json& each) { return each["name"] == "halo"; });
        REQUIRE(layout != known["layouts"].end());
        CHECK(named((*layout)["parameters"], "piece") == Json({{"name", "piece"},
                                                               {"type", "integer"},
                                                               {"default", 8},
                                                               {"optional", false},
                                                               {"minimum", 1},
                                                               {"maximum", 65536},
                                                               {"words", Json::array()},
                                                               {"unit", "blocks"}}));
        CHECK(named((*layout)["parameters"], "parts") == Json({{"name", "parts"},
                                                               {"type", "integer"},
                                                               {"default", "auto"},
                                                               {"optional", false},
                                                               {"minimum", 1},
                                                               {"maximum", 1048576},
                                                               {"words", {"auto"}},
                                                               {"unit", ""}}));
        const Json kernels = (*layout)["kernels"];
        const std::vector<KernelEntry>& entries = catalogue().find_layout("halo")->kernels;  // a GPU's if it is built with CUDA
        REQUIRE(kernels.size() == entries.size());
        CHECK(kernels[0]["backend"] == "kokkos");
        for (std::size_t i = 0; i < entries.size(); ++i) {
            CHECK(kernels[i] ==
                  Json({{"name", entries[i].name}, {"backend", name_of(entries[i].backend)}, {"summary", entries[i].summary}}));
        }
    }
}

}  // namespace workbench
