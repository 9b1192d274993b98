//! `SessionConfig`: the models and modes that an agent offers for a session, and the requests that choose one.

use json_lines::Value;
use serde_json::json;

/// What can be chosen in a session, as its agent last said.
#[derive(Debug, Default)]
pub(super) struct SessionConfig {
    pub(super) model: Option<Choice>,
    pub(super) mode: Option<Choice>,
}

/// One thing to choose.
#[derive(Debug)]
pub(super) struct Choice {
    setter: Setter,
    pub(super) current: Option<String>,
    pub(super) values: Vec<String>,
}

/// The request that chooses a value. Agents offer modes and models in two ways.
#[derive(Debug)]
enum Setter {
    Mode,
    Model,
    ConfigOption(String),
}

impl SessionConfig {
    /// Takes over what the answer to `session/new` and its kin, or an update, offers.
    pub(super) fn read(&mut self, offer: &Value) {
        let options = offer.list("configOptions");
        let config = |category: &str| {
            let mut options = options.iter();
            let is_meant = |option: &&Value| option.text("category").or(option.text("id")) == Some(category);
            Choice::of_option(options.find(is_meant)?)
        };
        let mode = || {
            Choice::of_list(
                offer.get("modes")?,
                Setter::Mode,
                "availableModes",
                "id",
                "currentModeId",
            )
        };
        let model = || {
            Choice::of_list(
                offer.get("models")?,
                Setter::Model,
                "availableModels",
                "modelId",
                "currentModelId",
            )
        };
        if let Some(choice) = mode().or_else(|| config("mode")) {
            self.mode = Some(choice);
        }
        if let Some(choice) = config("model").or_else(model) {
            self.model = Some(choice);
        }
    }

    pub(super) fn current_model(&self) -> Option<String> {
        self.model.as_ref()?.current.clone()
    }

    pub(super) fn current_mode(&self) -> Option<String> {
        self.mode.as_ref()?.current.clone()
    }
}

impl Choice {
    fn of_list(offer: &Value, setter: Setter, list: &str, id: &str, current: &str) -> Option<Self> {
        let values = offer.list(list).iter();
        Some(Self {
            setter,
            current: offer.text(current).map(str::to_owned),
            values: values
                .filter_map(|value| value.text(id).map(str::to_owned))
                .collect(),
        })
        .filter(|choice| !choice.values.is_empty() || choice.current.is_some())
    }

    fn of_option(option: &Value) -> Option<Self> {
        let id = option.text("id")?.to_owned();
        // Values may be in groups.
        let values = option
            .list("options")
            .iter()
            .flat_map(|value| match value.list("options") {
                [] => std::slice::from_ref(value),
                group => group,
            });
        Some(Self {
            setter: Setter::ConfigOption(id),
            current: option.text("currentValue").map(str::to_owned),
            values: values
                .filter_map(|value| value.text("value").map(str::to_owned))
                .collect(),
        })
    }

    pub(super) fn offers(&self, value: &str) -> bool {
        self.values.iter().any(|offered| offered == value)
    }

    /// Method and parameters of the request that chooses a value.
    pub(super) fn request(&self, session_id: &str, value: &str) -> (&'static str, serde_json::Value) {
        match &self.setter {
            Setter::Mode => (
                "session/set_mode",
                json!({"sessionId": session_id, "modeId": value}),
            ),
            Setter::Model => (
                "session/set_model",
                json!({"sessionId": session_id, "modelId": value}),
            ),
            Setter::ConfigOption(id) => (
                "session/set_config_option",
                json!({"sessionId": session_id, "configId": id, "value": value}),
            ),
        }
    }
}
