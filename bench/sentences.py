"""Fifty things a note may come to say, each with a question that shares none of its content words.

Questions are near enough for the embedded model, as what is measured with them is time and not judgement. The name
in a sentence is filled in anew for every run, so no cache can know its vector.
"""

from __future__ import annotations

# (a sentence with a place for a name that no note has, a question for it in other words)
SAYINGS: tuple[tuple[str, str], ...] = (
    ("The tabby cat refuses to eat salmon since {name} moved in.", "pet that dislikes fish"),
    ("Our grandmother bakes rye bread each Sunday for {name}.", "loaf made by an old relative"),
    ("The lighthouse of {name} has been dark since a storm.", "coastal beacon that no longer shines for ships"),
    ("A burst pipe flooded the cellar of {name}.", "water damage in the basement"),
    ("The surgeon removed a kidney stone from {name}.", "operation by a doctor in hospital"),
    ("Heavy snow closed the mountain pass to {name}.", "road blocked by winter weather"),
    ("The violin of {name} was stolen after the concert.", "theft of a musical instrument"),
    ("Bees swarmed in the apple orchard of {name}.", "insects among fruit trees"),
    ("The bride wore a green gown when {name} married.", "colour of the wedding dress"),
    ("The old ferry to {name} sank in a storm.", "ship that went down at sea"),
    ("Farmers near {name} harvest potatoes in October.", "when growers bring in the spuds"),
    ("The dentist of {name} pulled two wisdom teeth.", "molars extracted from a mouth"),
    ("Wolves were seen again in the forest of {name}.", "wild predators returning to the woods"),
    ("The toddler of {name} has a peanut allergy.", "child who must not have nuts"),
    ("The museum in {name} shows Roman coins.", "exhibition of ancient money"),
    ("The train to {name} derailed near the bridge.", "railway accident"),
    ("A volcano erupted on the island of {name}.", "lava and ash from a crater"),
    ("The goalkeeper of {name} saved three penalties.", "football player who stopped shots"),
    ("The rent of the flat in {name} rose by ten percent.", "apartment became more expensive"),
    ("The choir of {name} rehearses on Tuesday evening.", "singers who practise weekly"),
    ("Moths ate holes in the woollen coat of {name}.", "clothing damaged by insects"),
    ("The roof of the barn at {name} leaks.", "farm building lets the rain through"),
    ("The physician told {name} to sleep more and drink less coffee.", "medical advice about caffeine and rest"),
    ("The wheat price doubled at the market of {name}.", "grain got costly"),
    ("The puppy of {name} chewed a leather sofa.", "young dog ruined furniture"),
    ("De loodgieter verving de kapotte kraan bij {name}.", "vakman repareerde lekkend sanitair"),
    ("Het kind van {name} leert zwemmen in het buitenbad.", "zoon of dochter krijgt les in het water"),
    ("De tuin van {name} staat vol rode tulpen.", "bloemen achter het huis"),
    ("De bakker in {name} sluit op maandag.", "wanneer is de broodwinkel dicht"),
    ("De fiets van {name} heeft een lekke band.", "platte wielen van een rijwiel"),
    ("Die Heizung im Haus von {name} fiel im Januar aus.", "im Winter blieb die Wohnung kalt"),
    ("Der Imker verkaufte seinen Honig an {name}.", "süßes Erzeugnis von Bienen"),
    ("Die Oma von {name} strickt warme Socken.", "Großmutter macht Kleidung aus Wolle"),
    ("Der Zug nach {name} hatte zwei Stunden Verspätung.", "Bahn kam viel zu spät an"),
    ("Das Hochwasser zerstörte die Brücke bei {name}.", "Überschwemmung riss einen Übergang weg"),
    ("Le boulanger de {name} prépare des croissants.", "artisan qui fait des viennoiseries"),
    ("La voiture de {name} est tombée en panne sur la route.", "véhicule immobilisé par un problème de moteur"),
    ("Le chat de {name} dort sur le radiateur.", "animal domestique qui aime la chaleur"),
    ("La vendange a commencé tôt chez {name}.", "début des récoltes au vignoble"),
    ("Le médecin a prescrit des antibiotiques à {name}.", "traitement contre une infection"),
    ("外婆每个星期天都给 {name} 包饺子。", "老人周末做什么吃的"),
    ("小猫打翻了 {name} 的花瓶。", "宠物弄坏了家里的东西"),
    ("医生建议 {name} 每天散步半小时。", "健康方面的忠告:多走路"),
    ("大雪封住了通往 {name} 的山路。", "冬天交通中断"),
    ("祖母は毎朝 {name} に味噌汁を作る。", "おばあさんの朝ごはん"),
    ("台風で {name} の屋根が壊れた。", "嵐による家の被害"),
    ("子犬が {name} の靴をかじった。", "犬のいたずら"),
    ("할머니는 {name}에게 김치를 담가 주신다.", "어르신이 만드는 음식"),
    ("แมวของ {name} ไม่ยอมกินปลา", "สัตว์เลี้ยงเลือกอาหาร"),
    ("القطة التي عند {name} لا تأكل السمك.", "حيوان أليف يرفض طعامه"),
)  # fmt: skip


def name_of(index: int, seed: int) -> str:
    """A word that no note has, the same for the same numbers."""
    syllables = ("zor", "vek", "qua", "lith", "brun", "xam", "pyr", "dosk", "wem", "jug")
    number = seed * 100 + index
    spoken = ""
    while number:
        number, digit = divmod(number, 10)
        spoken += syllables[digit]
    return spoken.capitalize()
